/** No key, grant or token is in arguments, logs, answers or the environment of commands, whatever a channel command does. */
import { type Agent, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

type Raw = Readonly<Record<string, string>>

const token = "eyJhbGciOiJub25lIn0.c2VjcmV0LXRva2Vu.c2ln"
const secretsOf = ({ env, grant }: Member) => [
  grant,
  env["CT_CHANNEL_HOLDER_KEY"] ?? "",
  env["CT_CHANNEL_NOISE_KEY"] ?? ""
]

const stage = async () => {
  const authority = makeAuthority()
  const channel = makeChannel()
  const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
  const script = { authority, channel, members: [initiator, acceptor] }
  const broker = await startBroker(script)
  const home = await makeHome()
  const agents: Array<Agent> = []
  const secrets = [...secretsOf(initiator), ...secretsOf(acceptor), token]
  const seen: Array<string> = []
  const run = (env: Raw, args: ReadonlyArray<string>, input?: string | null) => {
    const agent = runAgent(home, { CT_OIDC_TOKEN: token, ...env }, [...args, "--log-level", "all"], input)
    agents.push(agent)
    return agent
  }
  return {
    home,
    secrets,
    serve: (env: Raw, args: ReadonlyArray<string> = ["channel"]) =>
      run({ ...throughFrontDoor(broker, script, acceptor), ...env }, args, null),
    call: (env: Raw, args: ReadonlyArray<string> = ["channel"], input: string | null = "x") =>
      run({ ...throughFrontDoor(broker, script, initiator), ...env }, args, input),
    note: (text: string) => void seen.push(text),
    /** Fails where a secret was printed, by whatever ran here, or said to a command. */
    holds: () => {
      const all = [...seen, ...agents.flatMap(({ lines, stdout }) => [...lines, stdout()])].join("\n").toLowerCase()
      for (const [index, secret] of secrets.entries())
        assert.isFalse(all.includes(secret.toLowerCase()), `secret ${index} is seen in:\n${all}`)
    },
    [Symbol.asyncDispose]: async () => {
      for (const agent of agents) await agent[Symbol.asyncDispose]()
      await broker[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    }
  }
}

/** What a command sees of its own environment and of the arguments of what has started it. */
const looks = `env; tr '\\0' ' ' </proc/$PPID/cmdline 2>/dev/null; true`

describe.concurrent("secrets of a member", () => {
  it("are not seen by the commands that it serves with, nor printed while it serves, calls and is refused", async () => {
    await using it = await stage()
    const server = it.serve({
      CT_CHANNEL_SERVE: "1",
      CT_AGENT_SERVICES: "a, fails",
      CT_AGENT_SERVICE_HANDLER_CMD: `${looks}; [ "$CT_SERVICE_TYPE" = a ] || { env >&2; exit 3; }`
    })
    const asked = it.call({ CT_CHANNEL_CALL_SERVICE: "a" })
    assert.strictEqual(await asked.exited, 0, asked.lines.join("\n"))
    assert.include(asked.stdout(), "CT_SERVICE_TYPE=a")
    const failed = it.call({ CT_CHANNEL_CALL_SERVICE: "fails" })
    assert.strictEqual(await failed.exited, 1)
    const listed = it.call({ CT_CHANNEL_CALL: "tools/list" })
    assert.strictEqual(await listed.exited, 0)
    server.kill()
    await server.exited
    const stranger = it.call({ CT_CHANNEL_CALL: "tools/list", ...makeChannel().member("initiate").env })
    assert.notStrictEqual(await stranger.exited, 0)
    it.holds()
  })

  it("are not seen by a stream handler, nor by a server of MCP behind the member", async () => {
    await using it = await stage()
    const stream = it.serve({
      CT_CHANNEL_SERVE: "1",
      CT_AGENT_STREAM_HANDLER_CMD: looks,
      CT_AGENT_STREAM_SERVICE: "look"
    })
    const piped = it.call({})
    assert.strictEqual(await piped.exited, 0, piped.lines.join("\n"))
    assert.include(piped.stdout(), "CT_SERVICE_TYPE=look", `${piped.lines.join("\n")}\n${stream.lines.join("\n")}`)
    stream.kill()
    await stream.exited
    const behind = it.serve({}, ["channel", "serve", "--mcp-command", `sh -c "{ ${looks}; } > seen; cat >/dev/null"`])
    const client = it.call({}, ["channel", "mcp"], null)
    client.type(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n`)
    const file = `${it.home.path}/seen`
    await eventually(async () => (await readFile(file, "utf8").catch(() => "")).includes("PATH="), "the server runs")
    it.note(await readFile(file, "utf8"))
    if (process.platform === "linux") it.note(readFileSync(`/proc/${client.pid}/cmdline`, "utf8"))
    for (const agent of [behind, client]) agent.kill()
    it.holds()
  })

  it("are not repeated where they are malformed", async () => {
    await using it = await stage()
    const names = ["CT_CHANNEL_HOLDER_KEY", "CT_CHANNEL_NOISE_KEY", "CT_CHANNEL_GRANT"] as const
    for (const args of [["channel"], ["channel", "mcp"], ["channel", "serve", "--mcp-command", "true"]]) {
      const env = Object.fromEntries(
        names.map((name, index) => [name, `${["11", "22", "33"][index]?.repeat(32)}${"z".repeat(7)}`])
      )
      it.secrets.push(...Object.values(env))
      const agent = it.call(env, args)
      assert.strictEqual(await agent.exited, 3, agent.lines.join("\n"))
      for (const name of names) assert.include(agent.lines.join("\n"), name)
    }
    const invite = it.call({ CT_CHANNEL_OPERATOR_KEY: `${"44".repeat(32)}zzz` }, ["channel", "invite"])
    it.secrets.push(`${"44".repeat(32)}zzz`)
    assert.notStrictEqual(await invite.exited, 0)
    it.holds()
  })
})

describe("an invite link", () => {
  const secret = Buffer.alloc(64, 0x5a).toString("base64url")

  it("is in no address that is asked, no word that is printed, and no list of processes once it is read", async () => {
    await using home = await makeHome()
    const asked: Array<string> = []
    const server = createServer((request) => void asked.push(request.url ?? ""))
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    await using joining = runAgent(home, {}, ["channel", "join", `http://127.0.0.1:${port}/join#${secret}`])
    await eventually(() => asked.length > 0, "the control plane is asked")
    if (process.platform === "linux")
      assert.notInclude(readFileSync(`/proc/${joining.pid}/cmdline`, "utf8"), secret.slice(0, 16))
    joining.kill()
    await joining.exited
    assert.notInclude([...asked, ...joining.lines, joining.stdout()].join("\n"), secret.slice(0, 16))
    await using wrong = runAgent(home, {}, ["channel", "join", `http://127.0.0.1:${port}/join#${secret}q`])
    assert.strictEqual(await wrong.exited, 2)
    assert.notInclude([...wrong.lines, wrong.stdout()].join("\n"), secret.slice(0, 16))
    server.closeAllConnections()
    server.close()
  })
})
