import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { exchange, joinToken, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import * as Collector from "@catenet/testing/platform/Collector"
import { chmod, readFile, realpath, writeFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { assert, describe, it } from "vitest"
import * as Variables from "../src/settings/Variables.ts"
import { version } from "../src/Version.ts"
import { echo, startOrigin } from "./harness/Origins.ts"

const commands = ["init", "onboard", "status", "doctor", "service", "rotate", "connect", "channel", "expose", "offer"]

const run = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  await using home = await makeHome()
  await using agent = runAgent(home, env, args)
  const code = await agent.exited
  return { code, stdout: agent.stdout(), stderr: agent.lines.join("\n") }
}

describe("the program", () => {
  it("has the version of its package", async () => {
    const packageJson = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"))
    assert.strictEqual(version, packageJson.version)
    for (const flag of ["--version", "-V"])
      assert.deepStrictEqual(await run([flag]), { code: 0, stdout: `ct-agent ${version}\n`, stderr: "" })
    assert.deepStrictEqual(await run(["status", "--version"]), { code: 0, stdout: `ct-agent ${version}\n`, stderr: "" })
  })

  it("helps on stdout within 100 columns: commands and ten variables, all of them on demand", async () => {
    const whole = await run(["--help"])
    assert.strictEqual(whole.code, 0)
    assert.strictEqual(whole.stderr, "")
    for (const name of [...commands, "Exit codes", "ct-agent help variables"]) assert.include(whole.stdout, name)
    assert.strictEqual(new Set(whole.stdout.match(/^ {2}CT_\w+/gmu)).size, 10)
    const all = await run(["help", "variables"])
    assert.strictEqual(all.code, 0)
    for (const { name } of Object.values(Variables.variables)) assert.include(all.stdout, `  ${name} `)
    for (const line of `${whole.stdout}\n${all.stdout}`.split("\n")) assert.isAtMost(line.length, 100, line)
    const { code, stdout, stderr } = await run(["channel", "--help"])
    assert.deepStrictEqual([code, stderr], [0, ""])
    for (const { name } of Object.values(Variables.channel)) assert.include(stdout, name)
  })

  it("ends update with 5 when the host of the releases does not answer, and with 4 when it refuses", async () => {
    const key = { CT_AGENT_RELEASE_PUBKEY: "ab".repeat(32) }
    for (const args of [["update"], ["update", "--check"]]) {
      const { code, stderr } = await run(args, { ...key, CT_AGENT_RELEASE_URL: "http://127.0.0.1:1/releases" })
      assert.strictEqual(code, 5, stderr)
      assert.match(stderr, /^Error: No update: http:\/\/127\.0\.0\.1:1\/releases\/\S+ is not received: .*ECONNREFUSED/u)
    }
    const unkeyed = await run(["update", "--check"], { CT_AGENT_RELEASE_URL: "http://127.0.0.1:1/releases" })
    assert.strictEqual(unkeyed.code, 4, unkeyed.stderr)
  })

  it("answers wrong usage with 2, a short usage on stderr and the complaint as its last line", async () => {
    for (const args of [
      ["serv"],
      ["--port", "1"],
      ["status", "now"],
      ["connect"],
      ["serv", "--help"],
      ["tunnel", "serv", "-h"]
    ]) {
      const { code, stdout, stderr } = await run(args)
      assert.strictEqual(code, 2, args.join(" "))
      assert.strictEqual(stdout, "")
      const lines = stderr.split("\n")
      assert.strictEqual(lines[0], "USAGE")
      assert.isAtMost(lines.length, 12, stderr)
      assert.match(lines.at(-1) ?? "", /^Error: /, stderr)
    }
  })

  it("names all that is missing at once, and what is set and not used", async () => {
    const nothing = await run(["onboard"], { CT_AGENT_MODE: "browser" })
    assert.strictEqual(nothing.code, 3)
    const missing = ["CT_AGENT_CP_URL", "CT_AGENT_HOSTNAME", "CT_AGENT_JOIN_TOKEN", "CT_AGENT_TOKEN"]
    assert.deepStrictEqual(
      nothing.stderr.split("\n").map((line) => /^Error: (\w+) is not set/u.exec(line)?.[1]),
      missing
    )
    const env = {
      CT_AGENT_CP_URL: "http://127.0.0.1:1",
      CT_AGENT_JOIN_TOKEN: "ab".repeat(32),
      CT_OIDC_ISSUER: "http://a.b"
    }
    const other = { CT_CHANNEL_ROLE: "accept", CT_CHANNEL_GRANT_FILE: "/a", CT_AGENT_SERVICES: "a" }
    const unread = await run(["onboard"], { ...env, ...other })
    const said = unread.stderr.split("\n").filter((line) => line.includes("does not use"))
    assert.lengthOf(said, 1)
    // Kept lines are dated.
    assert.match(
      said[0] ?? "",
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ info {2}this command does not use CT_AGENT_SERVICES, CT_CHANNEL_GRANT_FILE, CT_CHANNEL_ROLE$/
    )
  })

  it("answers a group of commands without one of them with 2 and their names", async () => {
    for (const [path, said] of [
      [["channel", "allowlist"], "add, remove or list"],
      [["tunnel"], "create or delete"]
    ] as const) {
      const { code, stdout, stderr } = await run(path)
      assert.deepStrictEqual([code, stdout], [2, ""], path.join(" "))
      assert.include(stderr, said)
    }
  })

  it("answers flags that do not go together with 2 and a sentence", async () => {
    for (const flags of [[], ["--listen", "5432"], ["--stdio", "--udp"], ["--stdio", "--listen", "127.0.0.1:0"]]) {
      const { code, stdout, stderr } = await run(["connect", "--capability", "c.bin", ...flags])
      assert.strictEqual(code, 2, flags.join(" "))
      assert.strictEqual(stdout, "")
      assert.match(stderr, /^Error: .*--listen.*\.$/)
    }
  })

  it("answers wrong configuration with 3 and a line for each problem", async () => {
    const { code, stdout, stderr } = await run([], { CT_AGENT_MODE: "browser", CT_AGENT_ORIGIN: "8080" })
    assert.strictEqual(code, 3)
    assert.strictEqual(stdout, "")
    const lines = stderr.split("\n")
    assert.strictEqual(lines.length, 4)
    for (const name of ["CT_AGENT_CP_URL", "CT_AGENT_HOSTNAME", "CT_AGENT_TOKEN", "CT_AGENT_ORIGIN"])
      assert.isTrue(
        lines.some((line) => line.startsWith(`Error: ${name} is not`)),
        name
      )
  })

  it("says its last words as JSON too when that is asked", async () => {
    const { code, stderr } = await run(["--json"], { CT_AGENT_MODE: "browser" })
    assert.strictEqual(code, 3)
    const lines = stderr.split("\n").map((line) => JSON.parse(line))
    assert.isTrue(lines.every(({ level, message }) => level === "error" && message.includes("is not set")))
    assert.strictEqual(lines.length, 3)
  })

  it("never says a secret, not even a malformed one", async () => {
    const secret = `${"12".repeat(31)}zz`
    const { code, stderr } = await run([], {
      CT_AGENT_TOKEN: secret,
      CT_AGENT_JOIN_TOKEN: secret,
      CT_AGENT_MODE: "browser"
    })
    assert.strictEqual(code, 3)
    assert.notInclude(stderr, "1212")
  })

  it("reads the file, the environment wins, and one that others can read is said", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const { CT_AGENT_RECONNECT_BASE_MS: _, CT_AGENT_HOSTNAME: __, ...rest } = stage.env
    const file = Object.entries({ ...rest, CT_AGENT_ORIGIN: origin.address, CT_AGENT_HOSTNAME: "other.example" })
    await writeFile(`${home.path}/ct-agent.env`, file.map(([key, value]) => `${key}=${value}\n`).join(""))
    await chmod(`${home.path}/ct-agent.env`, 0o644)
    // CT_AGENT_ORIGIN_PROTO in the environment must not hide CT_AGENT_ORIGIN in the file.
    await using agent = runAgent(home, { CT_AGENT_HOSTNAME: "Hello.Example.", CT_AGENT_ORIGIN_PROTO: "tcp" })
    await agent.said("chmod 600")
    await registered(agent)
    assert.deepStrictEqual(stage.edge.registrations[0]?.request.hosts, ["hello.example"])
    assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
    const missing = await run(["--config", "/nonexistent/agent.env"])
    assert.strictEqual(missing.code, 3)
    assert.include(missing.stderr, "--config")
    for (const name of ["agent.yaml", "agent.YML", "agent.json"]) {
      const other = await run(["doctor", "--config", name])
      assert.strictEqual(other.code, 3, name)
      assert.match(other.stderr, /has the name of a (?:YAML|JSON) file; name a file of KEY=VALUE lines/u)
    }
  })

  it("says which variable a misspelt one may be, in the environment and in the file", async () => {
    await using home = await makeHome()
    await writeFile(`${home.path}/agent.env`, "CT_AGENT_HOSTNAM=hello.example\nCT_AGENT_CARD_URL=https://a.example\n")
    const misspelt = { CT_AGENT_ORGIN: "127.0.0.1:1", CT_AGENT_ORIGIN: "127.0.0.1:1", CT_AGENT_SERVICES: "a" }
    await using agent = runAgent(home, misspelt, ["--config", "agent.env"])
    assert.strictEqual(await agent.exited, 3)
    const said = agent.lines.filter((line) => line.includes("is not read"))
    assert.strictEqual(said.length, 2)
    assert.include(said[0], "CT_AGENT_ORGIN is not read. Correct it if CT_AGENT_ORIGIN was meant.")
    assert.include(said[1], "CT_AGENT_HOSTNAM is not read. Correct it if CT_AGENT_HOSTNAME was meant.")
  })

  it("prints a service definition of a complete file, and of that alone", async () => {
    await using home = await makeHome()
    await writeFile(`${home.path}/ct-agent.env`, "CT_AGENT_CP_URL=http://127.0.0.1:1\n")
    await using shown = runAgent(home, {}, ["service", "--for", "systemd"])
    assert.strictEqual(await shown.exited, 0)
    const command = /^ExecStart="([^"]+)" "([^"]+)" "--config" "([^"]+)"$/m.exec(shown.stdout()) ?? assert.fail()
    assert.strictEqual(command[1], process.execPath)
    assert.strictEqual(command[2], agentProgram)
    assert.strictEqual(command[3], await realpath(`${home.path}/ct-agent.env`))
    assert.include(shown.lines.at(-1), "systemctl enable --now ct-agent")
    const { username } = userInfo()
    assert.include(shown.stdout(), `\nUser=${username === "root" ? "ct-agent" : username}\n`)
    if (username === "root")
      assert.match(shown.lines.join("\n"), /not as root.*useradd --system ct-agent.*chown -R ct-agent/)
    await writeFile(`${home.path}/ct-agent.env`, "CT_AGENT_MODE=browser\n")
    await using incomplete = runAgent(home, { CT_AGENT_CP_URL: "http://127.0.0.1:1" }, ["service"])
    assert.strictEqual(await incomplete.exited, 3)
    assert.strictEqual(incomplete.stdout(), "")
    assert.include(incomplete.lines.join("\n"), "CT_AGENT_CP_URL is not set")
    await using nothing = runAgent(home, {}, ["service", "--config", "none.env"])
    assert.strictEqual(await nothing.exited, 3)
  })

  it("exports telemetry when an OTLP endpoint is set", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const collector = await Collector.start()
    await using agent = runAgent(home, {
      ...stage.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=of-the-collector"
    })
    await registered(agent)
    agent.kill()
    assert.strictEqual(await agent.exited, 0)
    collector.close()
    const own = collector.taken.filter(
      ({ headers, service }) => service === "ct-agent" && headers["api-key"] === "of-the-collector"
    )
    assert.includeMembers(
      own.map(({ signal }) => signal),
      ["traces", "logs"]
    )
    assert.deepStrictEqual(collector.refused, [])
    const wrong = await run(["status"], { OTEL_EXPORTER_OTLP_HEADERS: "hunter2" })
    assert.strictEqual(wrong.code, 3)
    assert.match(wrong.stderr, /^Error: OTEL_EXPORTER_OTLP_HEADERS is not header fields/u)
    assert.notInclude(wrong.stderr, "hunter2")
  })

  it("logs JSON lines with --json, events among them, and shows the ring with status", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken }, ["--json"])
    await agent.said(`"kind":"registered"`)
    const entries = agent.lines.map((line) => JSON.parse(line))
    const event = entries.find(({ kind }) => kind === "registered")
    assert.strictEqual(event.edge, `127.0.0.1:${stage.edge.port}`)
    assert.strictEqual(event.transport, "tcp-fallback")
    assert.strictEqual(event.carrier, "mux")
    assert.isTrue(event.hostname_bound)
    assert.strictEqual(event.conn, 1)
    assert.match(event.session, /^[0-9a-f]{16}$/)
    assert.isTrue(entries.some(({ message, level }) => message === "enrolled" && level === "info"))
    await using status = runAgent(home, {}, ["status", "--json"])
    assert.strictEqual(await status.exited, 0)
    const ring = status
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      ring.map(({ kind }) => kind),
      ["transport_switch", "registered"]
    )
  })
})
