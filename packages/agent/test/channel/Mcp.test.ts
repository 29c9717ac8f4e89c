/** A client and a server of the official MCP SDK, which know nothing of channels, at the two ends of one. */
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { type Broker, startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { longestLine } from "../../src/channel/mcp/StdioTransport.ts"

const toolServer = fileURLToPath(new URL("../harness/McpServer.ts", import.meta.url))

let home: Home
let broker: Broker
let server: Agent
let client: Client
/** Notifications that the tools have changed. */
let changes = 0
beforeAll(async () => {
  const authority = makeAuthority()
  const channel = makeChannel()
  const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
  const script = { authority, channel, members: [initiator, acceptor] }
  broker = await startBroker(script)
  home = await makeHome()
  const serving = { CT_AGENT_SERVICE_HANDLER_CMD: "tr a-z A-Z", CT_AGENT_SERVICES: "shout", NEEDED: "yes", OTHER: "no" }
  const command = `exec '${process.execPath}' '${toolServer}'`
  server = runAgent(home, { ...throughFrontDoor(broker, script, acceptor), ...serving }, [
    "channel",
    "serve",
    "--mcp-command",
    command,
    "--env",
    "NEEDED"
  ])
  client = new Client({ name: "test", version: "1.0.0" })
  client.setNotificationHandler("notifications/tools/list_changed", () => void changes++)
  const env = { PATH: process.env["PATH"] ?? "", HOME: home.path, ...throughFrontDoor(broker, script, initiator) }
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [agentProgram, "channel", "mcp"],
      env,
      cwd: home.path,
      stderr: "ignore"
    })
  )
})
afterAll(async () => {
  await client?.close()
  await server?.[Symbol.asyncDispose]()
  await broker?.[Symbol.asyncDispose]()
  await home?.[Symbol.asyncDispose]()
})

const names = async () => (await client.listTools()).tools.map(({ name }) => name)
const textOf = (result: unknown) => (result as { content: ReadonlyArray<{ text: string }> }).content[0]?.text
const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })

describe("an official MCP client at one end of a channel and an official server at the other", () => {
  it("know each other's tools, those of the contract beside them, with their schemas and annotations", async () => {
    const { tools } = await client.listTools()
    assert.includeMembers(
      tools.map(({ name }) => name),
      ["ping", "service/shout", "whoami", "fail", "slow"]
    )
    assert.isTrue(tools.find(({ name }) => name === "whoami")?.annotations?.readOnlyHint)
    assert.deepStrictEqual(tools.find(({ name }) => name === "service/shout")?.inputSchema.required, ["input"])
  })

  it("call tools of both kinds", async () => {
    assert.strictEqual(textOf(await call("service/shout", { input: "hello" })), "HELLO")
    const ping = await call("ping")
    assert.deepStrictEqual(ping.structuredContent, { reply: "pong" })
    assert.match(textOf(await call("whoami")) ?? "", /^\d+$/)
    assert.strictEqual(textOf(await call("secrets")), "CT_SERVICE_TYPE,NEEDED")
  })

  it("get errors as MCP has them", async () => {
    const failed = await call("fail")
    assert.deepStrictEqual([failed.isError, textOf(failed)], [true, "it cannot be done"])
    const unknown = await call("no such tool").then(
      () => "no error",
      (error: Error) => error.message
    )
    assert.include(unknown, "no such tool")
  })

  it("pass progress and cancellation on, and go on after it", async () => {
    const cancel = new AbortController()
    const progress: Array<unknown> = []
    const slow = client.callTool(
      { name: "slow", arguments: {} },
      {
        signal: cancel.signal,
        onprogress: (each) => {
          progress.push(each)
          cancel.abort("enough")
        }
      }
    )
    await slow.then(
      () => assert.fail("was not cancelled"),
      () => undefined
    )
    assert.deepStrictEqual(progress, [{ progress: 1, total: 2, message: "half" }])
    const log = `${home.path}/mcp-server.log`
    await eventually(() => existsSync(log) && readFileSync(log, "utf8") === "cancelled\n", "the server hears of it")
    assert.strictEqual(textOf(await call("service/shout", { input: "on" })), "ON")
  })

  it("list a thousand tools of 4 kB", async () => {
    await call("multiply")
    const many = async () => (await names()).filter((name) => name.startsWith("many-"))
    await eventually(async () => (await many()).length === 1000, "the new tools are listed")
    assert.strictEqual(textOf(await call("many-1009")), "1009")
    assert.includeMembers(await names(), ["ping", "service/shout", "whoami"])
  })

  it("pass variables by name alone, if they are set and not the agent's own", async () => {
    const refusals = {
      "A=b": "takes the name",
      CT_CHANNEL_GRANT: "is a variable of this program",
      UNSET_1: "is not set"
    }
    for (const [name, why] of Object.entries(refusals)) {
      await using agent = runAgent(home, {}, ["channel", "serve", "--mcp-command", "true", "--env", name])
      assert.strictEqual(await agent.exited, 2)
      assert.include(agent.lines.join("\n"), why)
    }
  })

  it("notify the client of a tool that comes later, as initialize promises", async () => {
    assert.isTrue(client.getServerCapabilities()?.tools?.listChanged)
    assert.notInclude(await names(), "grown")
    const before = changes
    await call("grow")
    await eventually(() => changes > before, "the client is notified")
    assert.include(await names(), "grown")
  })

  it("answer sixty calls while one goes on", async () => {
    const cancel = new AbortController()
    const slow = client.callTool({ name: "slow", arguments: {} }, { signal: cancel.signal })
    const pids = await Promise.all(Array.from({ length: 60 }, async () => textOf(await call("whoami"))))
    assert.strictEqual(new Set(pids).size, 1)
    cancel.abort("enough")
    await slow.then(
      () => assert.fail("was not cancelled"),
      () => undefined
    )
  })

  it("carry answers of megabytes, and small calls past them", async () => {
    assert.strictEqual(textOf(await call("service/shout", { input: "x".repeat(70_000) }))?.length, 70_000)
    const huge = call("huge-8")
    const pids = await Promise.all(Array.from({ length: 20 }, async () => textOf(await call("whoami"))))
    assert.strictEqual(new Set(pids).size, 1)
    assert.strictEqual(textOf(await huge)?.length, 8 * 1024 * 1024)
  })

  it("answer a message that is too long by an error that says so, on either side, and go on", async () => {
    const before = textOf(await call("whoami"))
    const answered = await call("huge-16")
    assert.isTrue(answered.isError)
    assert.include(textOf(answered), `the answer of the MCP server is longer than ${longestLine} bytes`)
    await server.said("a line of the MCP server was left out")
    const asked = await call("service/shout", { input: "x".repeat(longestLine) }).then(
      () => "no error",
      (error: Error) => error.message
    )
    assert.include(asked, `the message is longer than ${longestLine} bytes`)
    assert.strictEqual(textOf(await call("whoami")), before)
  })

  it("say that a server has ended during a call, and start it again with the next", async () => {
    const before = textOf(await call("whoami"))
    const crashed = await call("crash")
    assert.isTrue(crashed.isError)
    assert.include(textOf(crashed), "the MCP server ended with 3")
    assert.match(textOf(await call("whoami")) ?? "", /^\d+$/)
    assert.notStrictEqual(textOf(await call("whoami")), before)
    assert.notInclude(await names(), "grown")
    await server.said("the MCP server ended with 3")
  })
})
