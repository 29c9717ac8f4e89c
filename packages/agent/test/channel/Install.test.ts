/**
 * `bridge/manifest-install` against publishers of all kinds, with real processes and an https server.
 * One file, since all cases fetch from one https server, whose answers they set.
 */
import * as Hex from "@catenet/crypto/Hex"
import type { Json } from "@catenet/crypto/Json"
import * as JsonText from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import { type Home, isAlive, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { bundleOf, manifestOf, type TarEntry } from "@catenet/testing/agent/Bundles"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { gzipSync } from "node:zlib"
import * as BridgeTools from "../../src/channel/bridge/BridgeTools.ts"
import * as Installer from "../../src/channel/install/Installer.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { Events } from "../../src/observe/Events.ts"
import type { InstallTerms } from "../../src/settings/MemberSettings.ts"

const publisher = new Uint8Array(32).fill(0x41)
const publisherKey = native.ed25519.publicKey(publisher)
const stranger = new Uint8Array(32).fill(0x42)

let home: Home
let server: Server
/** What is at each path: bytes, a status, or nothing that ever comes. */
const at = new Map<string, Uint8Array | string | number | "silence">()
const asked: Array<string> = []
const authority = makeAuthority("publisher root")
const defaults = getCACertificates("default")

beforeAll(async () => {
  home = await makeHome()
  setDefaultCACertificates([...defaults, authority.pem])
  server = createServer(authority.leaf("localhost"), ({ url = "" }, response) => {
    asked.push(url)
    const found = at.get(url) ?? 404
    if (found === "silence") return void response.writeHead(200).write("{")
    if (typeof found === "number") return void response.writeHead(found, { location: "/elsewhere" }).end()
    response.writeHead(200).end(found)
  })
  server.listen(0)
  await once(server, "listening")
})
afterAll(async () => {
  setDefaultCACertificates(defaults)
  server.closeAllConnections()
  server.close()
  await home[Symbol.asyncDispose]()
})

const origin = () => `https://localhost:${(server.address() as AddressInfo).port}`

const script = (text: string, path = "bin/run.sh"): TarEntry => ({ path, text: `#!/bin/sh\n${text}\n`, mode: 0o755 })
const lasting = script("env > env.txt; echo ready; echo $$ >> pids; exec sleep 1000")

let count = 0
/** Publishes a manifest with this bundle; its address. */
const publish = (bytes: Uint8Array, more: Parameters<typeof manifestOf>[2] = {}, seed = publisher) => {
  const name = `/${++count}`
  at.set(`${name}.tar.gz`, bytes)
  at.set(name, manifestOf(seed, { url: `${origin()}${name}.tar.gz`, bytes }, more))
  return `${origin()}${name}`
}

const termsIn = (workDir: string | undefined, more: Partial<InstallTerms> = {}): InstallTerms => ({
  trusted: [publisherKey],
  trustedFile: undefined,
  workDir,
  isDisabled: false,
  passes: [],
  ...more
})

const world = Layer.suspend(() =>
  Events.layer(home.path).pipe(
    Layer.provideMerge(Layer.mergeAll(AgentMetrics.layer, NodeFileSystem.layer, Logger.layer([])))
  )
)

/** A tool of a process of its own. */
const open = async (terms: InstallTerms) => {
  const scope = Effect.runSync(Scope.make())
  const tool = await Effect.runPromise(
    Effect.map(Installer.make(terms), BridgeTools.manifestInstallTool).pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.provide(world)
    )
  )
  return {
    install: (manifest_location: string, project_name = "echo") =>
      run(Effect.map(tool.answer({ manifest_location, project_name }), shown)),
    failure: (args: Json) => run(Effect.map(Effect.flip(tool.answer(args)), ({ reason }) => reason)),
    [Symbol.asyncDispose]: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(Effect.provide(effect, Logger.layer([])))
/** The members of all kinds of report. */
interface Report {
  readonly status: string
  readonly reason: string
  readonly detail: string
  readonly step: string
  readonly manifest_id: string | null
  readonly publisher_pubkey: string
  readonly project_name: string
  readonly install_dir: string
  readonly verify: { readonly exit_code: number | null; readonly duration_ms: number }
  readonly compose_up: { readonly exit_code: number | null; readonly duration_ms: number }
}
const shown = (report: Json): Report => JSON.parse(JsonText.write(report))

const folder = (name: string) => {
  const path = join(home.path, name)
  mkdirSync(path, { recursive: true })
  return path
}
/** What is in the folder, besides the lock. */
const left = (path: string) => readdirSync(path).filter((name) => !name.startsWith(".ct-agent.lock"))
const pidsOf = (path: string) =>
  existsSync(join(path, "pids")) ? readFileSync(join(path, "pids"), "utf8").trim().split("\n").map(Number) : []
const statuses = () =>
  readFileSync(join(home.path, "events.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === "manifest_install")
    .map(({ status }) => status)

describe("a service of a trusted publisher", () => {
  it("is unpacked, started with the environment that the operator lets it have, kept running, and ended with the agent", async () => {
    const workDir = folder("one")
    process.env["CT_MANIFEST_TEST_SECRET"] = "never"
    process.env["MANIFEST_TEST_SECRET"] = "never"
    process.env["MANIFEST_TEST_PLACE"] = "a place"
    const variable = (name: string, required: boolean) => ({ name, required, description: "" })
    const location = publish(
      bundleOf([
        lasting,
        script("until test -s pids; do sleep 0.02; done", "bin/check.sh"),
        { path: "data", text: "x" }
      ]),
      {
        verify: { script: "bin/check.sh", timeoutSecs: 5n },
        envTemplate: [
          variable("MANIFEST_TEST_PLACE", true),
          variable("MANIFEST_TEST_SECRET", false),
          variable("CT_MANIFEST_TEST_SECRET", false)
        ]
      }
    )
    const terms = termsIn(workDir, { passes: ["MANIFEST_TEST_PLACE", "CT_MANIFEST_TEST_SECRET"] })
    const path = join(workDir, "echo")
    {
      await using agent = await open(terms)
      const report = await agent.install(location)
      assert.strictEqual(report.status, "ok", JSON.stringify(report))
      assert.deepStrictEqual(Object.keys(report).sort(), [
        "compose_up",
        "install_dir",
        "manifest_id",
        "project_name",
        "publisher_pubkey",
        "status",
        "verify"
      ])
      assert.strictEqual(report.install_dir, path)
      assert.strictEqual(report.verify.exit_code, 0)
      assert.strictEqual(report.compose_up.exit_code, null)
      const env = readFileSync(join(path, "env.txt"), "utf8")
      assert.include(env, "MANIFEST_TEST_PLACE=a place\n")
      assert.include(env, "CT_SERVICE_TYPE=echo\n")
      assert.notInclude(env, "never")
      assert.include(readFileSync(join(path, ".ct-agent-activation.json"), "utf8"), `"state": "active"`)
      assert.strictEqual(statuses().at(-1), "ok")
      assert.strictEqual((await agent.install(location)).reason, "project_exists")
      const [first = 0] = pidsOf(path)
      process.kill(first, "SIGKILL")
      await eventually(() => pidsOf(path).length === 2, "the service is started again")
      assert.isFalse(isAlive(first))
    }
    assert.isFalse(pidsOf(path).some(isAlive))
    delete process.env["MANIFEST_TEST_PLACE"]
    {
      await using _agent = await open(terms)
      await eventually(() => pidsOf(path).length === 3, "the next agent starts it again")
      assert.include(readFileSync(join(path, "env.txt"), "utf8"), "MANIFEST_TEST_PLACE=a place\n")
      await using other = await open(terms)
      assert.include(await other.failure({ manifest_location: location, project_name: "b" }), "another process")
    }
    {
      await using _agent = await open({ ...terms, trusted: [native.ed25519.publicKey(stranger)] })
      assert.strictEqual(pidsOf(path).length, 3)
    }
    assert.isFalse(pidsOf(path).some(isAlive))
  })

  it("ends with an agent that is killed", async () => {
    const workDir = folder("killed")
    {
      await using agent = await open(termsIn(workDir))
      assert.strictEqual((await agent.install(publish(bundleOf([lasting])))).status, "ok")
    }
    mkdirSync(join(workDir, ".half.new"))
    mkdirSync(join(workDir, "half"))
    mkdirSync(join(workDir, "own"))
    const activation = readFileSync(join(workDir, "echo/.ct-agent-activation.json"), "utf8")
    const half = activation.replace(`"active"`, `"installing"`).replace(`"echo",\n  "name"`, `"half",\n  "name"`)
    writeFileSync(join(workDir, "half/.ct-agent-activation.json"), half)
    const member = makeChannel().member("accept")
    await using killed = runAgent(
      home,
      {
        ...member.env,
        CT_CHANNEL_BROKER: "127.0.0.1:1",
        CT_CHANNEL_RELAY: "127.0.0.1:1",
        CT_CHANNEL_RELAY_ONLY: "1",
        CT_CHANNEL_SERVE: "1",
        CT_CHANNEL_BRIDGE_PEER: "ab".repeat(32),
        CT_MANIFEST_TRUST_ALLOWLIST_FILE: "publishers",
        CT_MANIFEST_WORK_DIR: workDir
      },
      ["channel"]
    )
    writeFileSync(join(home.path, "publishers"), `# ours\n${Hex.encode(publisherKey)} # the first\n\n`)
    await killed.said("echo is started")
    await killed.said("echo: ready")
    assert.deepStrictEqual(left(workDir).sort(), ["echo", "own"], "what a cut install left is gone")
    const newest = () => pidsOf(join(workDir, "echo")).at(-1) ?? 0
    await eventually(() => isAlive(newest()), "the service runs")
    const pid = newest()
    killed.kill("SIGKILL")
    await eventually(() => !isAlive(pid), "the service has ended too")
  })
})

describe("an install that comes to nothing", () => {
  it("says which part failed, and leaves neither files nor processes", async () => {
    const workDir = folder("failing")
    await using agent = await open(termsIn(workDir))
    const program = join(home.path, "survivor")
    const early = await agent.install(publish(bundleOf([script("exit 7")])))
    assert.deepInclude(early, { status: "failed", step: "start", project_name: "echo" })
    assert.include(early.detail, "with 7")
    const missing = await agent.install(publish(bundleOf([{ path: "bin/run.sh", text: "#!/no/such/shell\n" }])))
    assert.deepInclude(missing, { status: "failed", step: "start" })
    const unverified = await agent.install(
      publish(bundleOf([script(`echo $$ > ${program}; exec sleep 1000`), script("exit 3", "v.sh")]), {
        verify: { script: "v.sh", timeoutSecs: 5n }
      })
    )
    assert.deepInclude(unverified, { status: "failed", step: "verify", detail: "The verify script exited with 3." })
    const late = await agent.install(
      publish(bundleOf([lasting, script("sleep 100", "v.sh")]), { verify: { script: "v.sh", timeoutSecs: 1n } })
    )
    assert.include(late.detail, "did not end within 1 s")
    assert.deepStrictEqual(left(workDir), [])
    if (existsSync(program)) assert.isFalse(isAlive(Number(readFileSync(program, "utf8"))))
    assert.deepStrictEqual(statuses().slice(-4), ["failed", "failed", "failed", "failed"])
  })

  it("is refused by an agent that installs nothing", async () => {
    const location = publish(bundleOf([lasting]))
    const args = { manifest_location: location, project_name: "echo" }
    asked.length = 0
    for (const [terms, why] of [
      [termsIn(folder("off"), { isDisabled: true }), "CT_CHANNEL_BRIDGE_DISABLE_MANIFEST_INSTALL"],
      [termsIn(undefined), "CT_MANIFEST_WORK_DIR is not set"],
      [termsIn(join(home.path, "events.jsonl", "x")), "CT_MANIFEST_WORK_DIR cannot be used"]
    ] as const) {
      await using agent = await open(terms)
      assert.include(await agent.failure(args), why)
    }
    await using agent = await open(termsIn(folder("off")))
    for (const project_name of ["", "..", "a/b", "A", ".new", "x".repeat(65), 7n])
      assert.include(await agent.failure({ ...args, project_name }), "project_name")
    assert.include(await agent.failure({ project_name: "echo" }), "wants manifest_location and project_name")
    assert.deepStrictEqual(asked, [])
    assert.deepStrictEqual(left(folder("off")), [])
  })

  const good = () => bundleOf([lasting])
  const published =
    (bytes: Uint8Array, more: Parameters<typeof manifestOf>[2] = {}) =>
    () =>
      publish(bytes, more)
  const changed = (change: (text: string) => string) => () => {
    const location = publish(good())
    const path = new URL(location).pathname
    at.set(path, change(String(at.get(path))))
    return location
  }
  const withBundle = (answer: Uint8Array | string | number) => () => {
    const location = publish(good())
    at.set(`${new URL(location).pathname}.tar.gz`, answer)
    return location
  }
  const gibberish = Buffer.from("gibberish")
  const elf = Buffer.alloc(64)
  elf.write("\x7fELF", "latin1")
  elf.writeUInt16LE(process.arch === "arm64" ? 62 : 183, 18)
  const sealed = {
    schema: 1,
    filesystem: { scope: "bundle_dir", readBaseOs: true, extraRo: [], tmpMb: 1 },
    processes: { allow: [], maxPids: 1 },
    network: { mode: "none", hostLoopbackPorts: [], egress: [] },
    resources: { cpuCores: 1, memoryMb: 1, wallSecs: 1, diskMb: 1 },
    hooks: { verify: "v.sh", verifyTimeoutSecs: 1 },
    sandboxMinTier: { linux: "bwrap", macos: "seatbelt", windows: "wsl2_bwrap" }
  } as const
  const required = { name: "MANIFEST_TEST_ABSENT", required: true, description: "" }

  const refused: Readonly<Record<string, readonly [location: () => string, reason: string, says: string]>> = {
    "an http address": [() => publish(good()).replace("https:", "http:"), "manifest_location_not_https", "no https"],
    "a password in it": [() => publish(good()).replace("//", "//a:b@"), "manifest_location_not_https", "password"],
    "a file": [() => "file:///etc/passwd", "manifest_location_not_https", "no https"],
    "an address without a manifest": [() => `${origin()}/none`, "manifest_not_fetched", "answered with 404"],
    "a redirect": [() => (at.set("/r", 302), `${origin()}/r`), "manifest_not_fetched", "no redirect is followed"],
    "a manifest that is too long": [
      () => (at.set("/long", "x".repeat(65_537)), `${origin()}/long`),
      "manifest_not_fetched",
      "longer than 65536 bytes"
    ],
    "a page": [
      () => (at.set("/page", "<html>"), `${origin()}/page`),
      "manifest_malformed",
      "no signed service manifest"
    ],
    "no signature": [
      changed((text) => text.replace(/,"signature":"[0-9a-f]+"/u, "")),
      "manifest_malformed",
      "no signed"
    ],
    "a changed field": [
      changed((text) => text.replace("1.0.0", "1.0.1")),
      "manifest_signature_invalid",
      "not signed by its publisher"
    ],
    "a stranger's signature": [
      () => publish(good(), {}, stranger),
      "publisher_not_on_trust_allowlist",
      "CT_MANIFEST_TRUST_ALLOWLIST"
    ],
    "an expired manifest": [published(good(), { expiresAt: 1n }), "manifest_expired", "has expired"],
    "a compose file": [
      published(good(), { installerKind: "compose" }),
      "installer_kind_unsupported",
      "no compose file"
    ],
    "a cluster": [published(good(), { installerKind: "k8s" }), "installer_kind_unsupported", `"k8s"`],
    "a sandbox": [published(good(), { environment: sealed }), "sandbox_unavailable", "has none"],
    "a variable that cannot be": [
      published(good(), { envTemplate: [{ ...required, name: "A=B" }] }),
      "env_template_invalid",
      "no environment"
    ],
    "a variable that is not given": [
      published(good(), { envTemplate: [required] }),
      "env_missing",
      "MANIFEST_TEST_ABSENT"
    ],
    "a verify script without time": [
      published(good(), { verify: { script: "v.sh", timeoutSecs: 0n } }),
      "verify_timeout_zero",
      "no time"
    ],
    "no program": [published(bundleOf([{ path: "readme" }])), "no_program", "does not hold the program"],
    "a program beside the bundle": [
      published(good(), { bundle: { url: "https://localhost/", sha256: new Uint8Array(32), composeFile: "" } }),
      "no_program",
      "names no program"
    ],
    "a bundle at an http address": [
      published(good(), { bundle: { url: "http://localhost/", sha256: new Uint8Array(32), composeFile: "a" } }),
      "bundle_url_not_https",
      "not at an https address"
    ],
    "no verify script": [
      published(good(), { verify: { script: "v.sh", timeoutSecs: 1n } }),
      "no_verify_script",
      "does not hold the verify script"
    ],
    "another bundle": [withBundle(bundleOf([script("evil")])), "bundle_digest_mismatch", "SHA-256 differs"],
    "half of a bundle": [() => withBundle(good().subarray(0, 100))(), "bundle_digest_mismatch", "SHA-256 differs"],
    "a bundle that is not there": [withBundle(404), "bundle_not_fetched", "answered with 404"],
    "a huge bundle": [withBundle(new Uint8Array(32 * 1024 * 1024 + 1)), "bundle_not_fetched", "longer than 33554432"],
    "no archive": [published(gibberish), "bundle_refused", "no whole tar.gz"],
    "half of an archive": [() => publish(good().subarray(0, -20)), "bundle_refused", "no whole tar.gz"],
    "a zip bomb": [published(gzipSync(new Uint8Array(64 * 1024 * 1024 + 1))), "bundle_refused", "67108864 bytes"],
    "a path upwards": [published(bundleOf([lasting, { path: "../evil", text: "x" }])), "bundle_refused", "leads out"],
    "a link": [published(bundleOf([{ path: "bin", flag: "2", link: "/tmp" }, lasting])), "bundle_refused", "a link"],
    "another platform": [
      published(bundleOf([{ path: "bin/run.sh", text: elf }])),
      "platform_unsupported",
      `this machine is ${process.platform}`
    ]
  }
  for (const [what, [location, reason, says]] of Object.entries(refused))
    it(`is refused with a sentence, and nothing is written: ${what}`, async () => {
      const workDir = folder("refused")
      await using agent = await open(termsIn(workDir))
      const report = await agent.install(location())
      assert.deepInclude(report, { status: "rejected", reason })
      assert.include(report.detail, says)
      assert.match(report.detail, /^[A-Z].*\.$/u)
      const isKnown = !/^manifest_(?:location|not|mal)/u.test(reason)
      assert.strictEqual(report.manifest_id, isKnown ? "09".repeat(32) : null)
      assert.deepStrictEqual(left(workDir), [])
      assert.strictEqual(statuses().at(-1), "rejected")
    })

  it("asks nothing of the network while it trusts no publisher, or its list is unusable", async () => {
    const location = publish(good())
    asked.length = 0
    const file = join(home.path, "list")
    writeFileSync(file, "no key\n")
    for (const [trustedFile, reason] of [
      [undefined, "publisher_not_on_trust_allowlist"],
      [join(home.path, "absent"), "trust_allowlist_unreadable"],
      [file, "trust_allowlist_unreadable"]
    ] as const) {
      await using agent = await open(termsIn(folder("refused"), { trusted: [], trustedFile }))
      assert.deepInclude(await agent.install(location), { status: "rejected", reason, manifest_id: null })
    }
    assert.deepStrictEqual(asked, [])
  })

  it.effect("is refused when the publisher is silent", () =>
    Effect.gen(function* () {
      const workDir = folder("slow")
      const tool = BridgeTools.manifestInstallTool(yield* Installer.make(termsIn(workDir)))
      at.set("/silent", "silence")
      const location = yield* Effect.sync(() => publish(good()))
      at.set(`${new URL(location).pathname}.tar.gz`, "silence")
      for (const [address, waits, reason] of [
        [`${origin()}/silent`, "/silent", "manifest_not_fetched"],
        [location, `${new URL(location).pathname}.tar.gz`, "bundle_not_fetched"]
      ] as const) {
        asked.length = 0
        const answer = tool.answer({ manifest_location: address, project_name: "echo" })
        const fiber = yield* Effect.forkChild(answer)
        yield* Effect.promise(() => eventually(() => asked.includes(waits), "it was asked"))
        yield* TestClock.adjust("15 seconds")
        assert.deepInclude(shown(yield* Fiber.join(fiber)), { status: "rejected", reason })
        assert.deepStrictEqual(left(workDir), [])
      }
    }).pipe(Effect.scoped, Effect.provide(world))
  )
})
