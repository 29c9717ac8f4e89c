import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { server } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { freePorts, onlyNodeAndNpm, Spawned } from "@catenet/testing/stack/e2e/Stack"
import { platformProgram } from "@catenet/testing/stack/PlatformProgram"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { Effect, Layer, Redacted } from "effect"
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as JoinLinks from "../agent/JoinLinks.ts"
import { runExamples } from "./LibraryExamples.ts"
import { followStartPages } from "./StartPages.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..")
const libraries = ["platform", "domain", "crypto", "wire", "proxy", "server", "edge", "agent"]
/** As the run has built them for all its tests. */
const programs = { "ct-agent": dirname(agentProgram), catenet: dirname(platformProgram) }
const packages = [...libraries, ...Object.keys(programs)]

/** What somebody who checks with TypeScript would write. */
const typed = `
import { Hostname } from "@catenet/domain/values/Hostname"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { Schema } from "effect"

export const host: typeof Hostname.Type = Schema.decodeUnknownSync(Hostname)("a.example")
export const decoded = Grant.decode
export const hash: Uint8Array = native.sha256(new Uint8Array())
`

describe("the published packages", () => {
  const project = mkdtempSync(join(tmpdir(), "catenet-embedding-"))
  const modules = join(project, "node_modules")

  beforeAll(async () => {
    const run = promisify(execFile)
    const built = join(project, "dist")
    await run(process.execPath, [join(root, "scripts", "build.mjs"), "--out", built, ...libraries])
    for (const [name, folder] of Object.entries(programs)) cpSync(folder, join(built, name), { recursive: true })
    const folders = packages.map((name) => `./${name}`)
    const { stdout } = await run("npm", ["pack", "--silent", ...folders], { cwd: built })
    const files = stdout.trim().split("\n")
    assert.lengthOf(files, packages.length)
    for (const [n, name] of packages.entries()) {
      const to = join(modules, "@catenet", name)
      mkdirSync(to, { recursive: true })
      await run("tar", ["-xzf", join(built, files[n]!), "--strip-components", "1", "-C", to])
    }
    // The libraries' own dependencies, as an install would lay them out.
    for (const name of readdirSync(join(root, "node_modules")))
      if (!name.startsWith(".") && name !== "@catenet")
        symlinkSync(join(root, "node_modules", name), join(modules, name))
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }))
    cpSync(join(root, "examples"), project, { recursive: true })
    writeFileSync(join(project, "typed.ts"), typed)
    mkdirSync(join(project, "out"))
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  it("are a control plane, an edge and a forwarded service in the programs of examples/", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        yield* Effect.promise(() => runExamples(project, Redacted.value(url)))
      }).pipe(Effect.provide(TestDatabase.layerEmpty))
    ))

  /** Every module that a library lets others import. */
  const modulesOf = (name: string) => {
    const folder = join(modules, "@catenet", name)
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      exports: Record<string, { types: string } | null>
    }
    return Object.entries(exports).flatMap(([entry, target]) => {
      if (target === null) return []
      const [before = "", after = ""] = target.types.replace("./", "").split("*")
      const files = globSync(target.types, { cwd: folder }).map((file) => file.replaceAll("\\", "/"))
      const names = files.map((file) => entry.replace("*", file.slice(before.length, file.length - after.length)))
      return names.filter((one) => exports[one] !== null).map((one) => `@catenet/${name}${one.slice(1)}`)
    })
  }
  const reExport = (module: string, at: number) => `export * as module${at} from "${module}"\n`

  it("carries declarations that another project's compiler accepts to the last, each of them checked", () => {
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
    const examples = readdirSync(join(root, "examples")).filter((file) => file.endsWith(".ts"))
    writeFileSync(join(project, "every.ts"), libraries.flatMap(modulesOf).map(reExport).join(""))
    const flags = [
      "--module",
      "nodenext",
      "--target",
      "esnext",
      "--strict",
      "--skipLibCheck",
      "false",
      "--checkers",
      "1",
      "--outDir",
      "out"
    ]
    const { status, stdout } = spawnSync(
      process.execPath,
      [compiler, ...flags, "--types", "node", "typed.ts", "every.ts", ...examples],
      { cwd: project, encoding: "utf8" }
    )
    assert.strictEqual(status, 0, stdout)
    execFileSync(process.execPath, ["out/typed.js"], { cwd: project, stdio: "pipe" })
  })

  it("says one sentence on a Node that is too old, and exits with 3", () => {
    const older = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'22.19.0'})"
    const program = join(modules, "@catenet", "ct-agent", "ct-agent.js")
    const { status, stderr, stdout } = spawnSync(process.execPath, ["--import", older, program, "--version"])
    assert.deepStrictEqual([status, String(stdout)], [3, ""])
    assert.match(String(stderr), /^ct-agent needs Node 26 or newer\. This is v[\d.]+; install Node 26 and run .*\.\n$/)
    for (const name of [...libraries, "ct-agent"]) {
      const { engines } = JSON.parse(readFileSync(join(modules, "@catenet", name, "package.json"), "utf8"))
      assert.deepStrictEqual(engines, { node: ">=26" }, name)
    }
  })

  it("joins a channel by one line of npx from the control plane, with only Node and npm and an empty home", async () => {
    const run = promisify(execFile)
    const pack = ["pack", "--silent", "--pack-destination", project]
    const packed = await run("npm", pack, { cwd: join(modules, "@catenet", "ct-agent") })
    const releases = join(project, "releases")
    mkdirSync(join(releases, "0.1.0"), { recursive: true })
    renameSync(join(project, packed.stdout.trim()), join(releases, "0.1.0", "agent.tgz"))
    const home = mkdtempSync(join(project, "home-"))
    const joins = Effect.gen(function* () {
      const channel = yield* JoinLinks.open("npx-ann")
      const { holder, text } = yield* JoinLinks.mint("npx-ann", channel)
      const line = `npx --yes ${yield* TestServer.baseUrl}/agent.tgz channel join '${text}'`
      const { stdout } = yield* Effect.promise(() => run("sh", ["-c", line], { cwd: home, env: onlyNodeAndNpm(home) }))
      const members = yield* JoinLinks.members("npx-ann", channel)
      assert.deepStrictEqual(
        members.map((member) => member.holder),
        [holder]
      )
      return stdout
    })
    const served = server({ CT_CP_RELEASES_DIR: releases })
    const stdout = await Effect.runPromise(joins.pipe(Effect.provide(Layer.fresh(served))))
    const [, file = ""] = /^ct-agent channel serve --mcp-command "COMMAND" --config (\S+)$/mu.exec(stdout) ?? []
    assert.include(readFileSync(file, "utf8"), "CT_CHANNEL_NOISE_KEY=", stdout)
  })

  it("starts on three machines by the lines of the pages, from packed files in empty folders", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const machines = mkdtempSync(join(project, "machines-"))
        yield* Effect.promise(() => followStartPages(join(modules, "@catenet"), machines, Redacted.value(url)))
      }).pipe(Effect.provide(TestDatabase.layerEmpty))
    ))

  it.skipIf(QuicProgram.find() === undefined)(
    "speak QUIC where its runtime is installed beside them, and without it TLS and no word of it",
    async () => {
      const { edgeAdmin, mesh } = await freePorts()
      const folder = mkdtempSync(join(project, "carriers-"))
      const root = join(folder, "edge-cert.der")
      const edge = new Spawned([join(modules, "@catenet", "catenet", "catenet.js"), "edge"], {
        CT_EDGE_LISTEN: `127.0.0.1:${mesh}`,
        CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${edgeAdmin}`,
        CT_EDGE_ADMIN_TOKEN: "ad".repeat(32),
        CT_EDGE_CERT_OUT: root
      })
      const agent = (program: string, name: string, more: Readonly<Record<string, string>>) =>
        new Spawned([join(program, "ct-agent.js")], {
          CT_AGENT_CP_URL: "http://127.0.0.1:1",
          CT_AGENT_TOKEN: randomBytes(32).toString("hex"),
          CT_AGENT_EDGE: `127.0.0.1:${mesh}`,
          CT_AGENT_EDGE_CERT: root,
          CT_AGENT_STATE_DIR: join(folder, name),
          CT_AGENT_CAPABILITY_OUT: join(folder, `${name}.bin`),
          CT_AGENT_ORIGIN: "127.0.0.1:1",
          ...more
        })
      const installed = join(modules, "@catenet", "ct-agent")
      const alone = join(mkdtempSync(join(tmpdir(), "catenet-alone-")), "ct-agent")
      cpSync(installed, alone, { recursive: true })
      await edge.printed("QUIC is listened for")
      const agents = [
        agent(installed, "beside", { CT_AGENT_TRANSPORTS: "quic" }),
        agent(alone, "alone", { CT_AGENT_TRANSPORTS: "quic,slots" })
      ]
      try {
        await Promise.all(agents.map((one) => one.printed("event: registered")))
        assert.include(agents[0]?.stderr, "transport=quic")
        assert.include(agents[1]?.stderr, "transport=tcp-fallback")
        assert.notMatch(agents[1]?.stderr ?? "", /quic(?!,slots)/iu)
      } finally {
        await Promise.all([...agents, edge].map((one) => one.stop("SIGKILL")))
        rmSync(dirname(alone), { recursive: true, force: true })
      }
    }
  )

  it("answers with the agent's version", () => {
    const program = join(modules, "@catenet", "ct-agent", "ct-agent.js")
    assert.match(execFileSync(process.execPath, [program, "--version"]).toString(), /^ct-agent \d+\.\d+\.\d+\n$/)
    assert.include(execFileSync(process.execPath, [program, "--help"]).toString(), "CT_AGENT_CP_URL")
  })
})
