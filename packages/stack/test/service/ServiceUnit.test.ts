/** The printed units, judged by systemd's own programs where they are (Debian package `systemd`), and by their content. */
import { spawn, spawnSync } from "node:child_process"
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, assert, describe, it } from "vitest"
import { plan, type Program, variables } from "../../src/service/ServicePlan.ts"
import { render } from "../../src/service/ServiceUnit.ts"

const main = join(import.meta.dirname, "../../src/main.ts")
const folder = mkdtempSync(join(tmpdir(), "catenet-service-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const analyze = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync("systemd-analyze", args, { encoding: "utf8" })
  return { status, said: `${stdout}${stderr}` }
}
/** Security is judged without a running manager from version 250 on. */
const judged = Number(/^systemd (\d+)/.exec(analyze("--version").said)?.[1] ?? 0) >= 250
if (!judged) process.stderr.write("SKIPPED: no systemd-analyze 250 or newer here, so no unit is verified by it\n")

const values: Readonly<Record<Program, Readonly<Record<string, string>>>> = {
  serve: { CT_CONTROL_PLANE_LISTEN: "127.0.0.1:8090", CT_CP_SEAL_KEY_FILE: "/etc/catenet/100%.key" },
  edge: {
    CT_FRONT_DOOR: "0.0.0.0:443",
    CT_EDGE_CERT_OUT: "edge-cert.der",
    CT_EDGE_WILDCARD_CERT: "/etc/catenet/wildcard.pem",
    CT_EDGE_WILDCARD_KEY: "/etc/catenet/wildcard.key",
    CT_EDGE_AUDIT_LOG_PATH: "/var/lib/catenet-edge/audit.db"
  }
}
const planOf = (program: Program, given: Readonly<Record<string, string>>) =>
  plan(program, new Map(Object.entries(given)))
const unitOf = (program: Program, given: Readonly<Record<string, string>>) =>
  render({ program, command: [process.execPath, main, program], config: "/etc/hostname", plan: planOf(program, given) })

/** Verifies by systemd, with at most this exposure of ten. */
const accept = (name: string, unit: string, most: number) => {
  const path = join(folder, `${name}.service`)
  writeFileSync(path, unit)
  const verified = analyze("verify", path)
  assert.strictEqual(verified.status, 0, verified.said)
  assert.notInclude(verified.said, path, "a line of it is not understood")
  const secure = analyze("security", "--offline=true", `--threshold=${most * 10}`, "--no-pager", path)
  assert.strictEqual(secure.status, 0, secure.said)
}

const printed = async (program: string, contents: string, mode = 0o600) => {
  const config = join(folder, `${program}.env`)
  writeFileSync(config, contents, { mode })
  const child = spawn(process.execPath, [main, "service", program, "--config", config], {
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
  })
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const [code, out, said] = await Promise.all([exited, text(child.stdout), text(child.stderr)])
  return { code, out, said, config }
}

describe("a unit of systemd", () => {
  it("of the control plane runs without the rights of root, and passes the seal key to the program", () => {
    const unit = unitOf("serve", values.serve)
    for (const line of [
      "DynamicUser=yes",
      "StateDirectory=catenet-serve",
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
      "PrivateTmp=yes",
      "CapabilityBoundingSet=",
      "AmbientCapabilities=",
      "PrivateUsers=yes",
      "SystemCallFilter=@system-service",
      "EnvironmentFile=/etc/hostname",
      "LoadCredential=CT_CP_SEAL_KEY_FILE:/etc/catenet/100%%.key",
      "TimeoutStopSec=45",
      `ExecStart=/usr/bin/env "CT_CP_SEAL_KEY_FILE=\${CREDENTIALS_DIRECTORY}/CT_CP_SEAL_KEY_FILE" "${process.execPath}" "${main}" "serve"`
    ])
      assert.include(unit, `\n${line}\n`)
    assert.notMatch(unit, /MemoryDenyWriteExecute|User=root/)
    if (judged) accept("catenet-serve", unit, 1.5)
  })

  it("of an edge copies no file of its own folder, which the edge follows there when it is renewed", () => {
    const [inside, outside] = ["/var/lib/catenet-edge/wildcard.pem", "/var/lib/catenet-edge/../wildcard.key"]
    const { credentials, problems } = planOf("edge", { CT_EDGE_WILDCARD_CERT: inside, CT_EDGE_WILDCARD_KEY: outside })
    assert.deepStrictEqual(credentials, [["CT_EDGE_WILDCARD_KEY", outside]])
    assert.deepStrictEqual(problems, [])
  })

  it("of an edge may listen on a port below 1024 where one is asked for, and only there", () => {
    const low = unitOf("edge", values.edge)
    assert.match(low, /^CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE$/m)
    assert.notInclude(low, "PrivateUsers")
    assert.strictEqual(low.match(/^LoadCredential=/gm)?.length, 2)
    for (const [port, asked] of [
      ["1", true],
      ["1023", true],
      ["1024", false],
      ["8443", false],
      ["0", false]
    ] as const)
      assert.strictEqual(planOf("edge", { CT_FRONT_DOOR: `[::]:${port}` }).lowPort, asked, port)
    for (const name of variables("edge").filter((variable) => variable.endsWith("_LISTEN")))
      assert.isTrue(planOf("edge", { [name]: "0.0.0.0:80" }).lowPort, name)
    if (judged) accept("catenet-edge", low, 2)
  })

  it("sets the stop timeout and the descriptors that the program's variables need", () => {
    assert.strictEqual(planOf("serve", { CT_CP_SHUTDOWN_GRACE_SECS: "600" }).stopSeconds, 615)
    assert.strictEqual(planOf("edge", { CT_EDGE_DRAIN_DELAY_SECS: "60" }).stopSeconds, 105)
    assert.strictEqual(planOf("edge", {}).descriptors, 65_536)
    assert.strictEqual(planOf("edge", { CT_EDGE_MAX_CONNECTIONS: "100000" }).descriptors, 201_024)
    assert.strictEqual(planOf("edge", { CT_EDGE_MAX_CONNECTIONS: "off" }).descriptors, 1_048_576)
  })

  it("is refused where the program could not write, or systemd could not read", () => {
    const problems = (program: Program, given: Readonly<Record<string, string>>) => planOf(program, given).problems
    for (const inside of ["edge-cert.der", "a/../b", "/var/lib/catenet-edge/x"])
      assert.deepStrictEqual(problems("edge", { CT_EDGE_CERT_OUT: inside }), [], inside)
    for (const outside of ["/etc/x", "../x", "/var/lib/catenet-edge/../x", "/var/lib/catenet-edge", "."])
      assert.lengthOf(problems("edge", { CT_EDGE_CERT_OUT: outside }), 1, outside)
    for (const path of ["seal.key", "/etc/a b", "/etc/a:b", "/etc/a\nUser=root"])
      assert.lengthOf(problems("serve", { CT_CP_SEAL_KEY_FILE: path }), 1, path)
  })

  it("is printed by `service` from the file of the variables", async () => {
    const lines = Object.entries(values.edge).map(([name, value]) => `${name}=${value}\n`)
    const [edge, serve, unknown] = await Promise.all([
      printed("edge", lines.join("")),
      printed("serve", "CT_CP_SEAL_KEY_FILE=seal.key\nCT_CP_SEAL_KEY=secret-of-the-file\n", 0o644),
      printed("agent", "")
    ])
    assert.strictEqual(edge.code, 0, edge.said)
    assert.include(edge.out, `\nEnvironmentFile=${edge.config}\n`)
    assert.include(edge.out, "\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n")
    assert.include(edge.said, "systemctl enable --now catenet-edge")
    if (judged) accept("catenet-edge", edge.out, 2)
    assert.strictEqual(serve.code, 3)
    assert.strictEqual(serve.out, "")
    assert.include(serve.said, "CT_CP_SEAL_KEY_FILE must be a path from / on")
    assert.include(serve.said, "chmod 600")
    assert.notInclude(serve.said, "secret-of-the-file")
    assert.strictEqual(unknown.code, 2)
  })

  it("of a whole platform gets copies of its files, and is refused where its data lies elsewhere", async () => {
    const etc = join(folder, "etc")
    const run = async (...args: ReadonlyArray<string>) => {
      const child = spawn(process.execPath, [main, ...args, "--folder", etc], {
        env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
      })
      const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
      const [code, out, said] = await Promise.all([exited, text(child.stdout), text(child.stderr)])
      return { code, out, said }
    }
    await run("init", "--yes", "--no-wait", "--domain", "own.test", "--email", "a@own.test")
    const elsewhere = await run("service", "up")
    assert.deepStrictEqual([elsewhere.code, elsewhere.out], [3, ""])
    assert.include(elsewhere.said, "must be /var/lib/catenet-up")
    appendFileSync(join(etc, "catenet.yaml"), "data: /var/lib/catenet-up\n")
    const { code, out, said } = await run("service", "up")
    assert.strictEqual(code, 0, said)
    for (const name of ["catenet.yaml", "catenet.schema.json", "catenet.env", "owner-password"])
      assert.include(out, `\nLoadCredential=${name}:${join(etc, name)}\n`)
    for (const line of ["DynamicUser=yes", "StateDirectory=catenet-up", "AmbientCapabilities=CAP_NET_BIND_SERVICE"])
      assert.include(out, `\n${line}\n`)
    assert.include(out, `"up" "--folder" \${CREDENTIALS_DIRECTORY}\n`)
    assert.include(said, "systemctl enable --now catenet-up")
    if (judged) accept("catenet-up", out, 2)
  })
})
