/** Every feature of MCP between an official client and an official server at the two ends of a channel, by revision of the protocol. */
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { type Broker, startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { fileURLToPath } from "node:url"

const featureServer = fileURLToPath(new URL("../harness/McpFeatures.ts", import.meta.url))
const textOf = (result: unknown) => (result as { content: ReadonlyArray<{ text: string }> }).content[0]?.text

describe.each(["2025-11-25", "2026-07-28"])("MCP %s through a channel", (revision) => {
  const isModern = revision >= "2026"
  let home: Home
  let broker: Broker
  let server: Agent
  let client: Client
  const updated: Array<string> = []
  const logged: Array<unknown> = []

  beforeAll(async () => {
    const channel = makeChannel()
    const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
    const script = { authority: makeAuthority(), channel, members: [initiator, acceptor] }
    broker = await startBroker(script)
    home = await makeHome()
    const command = `exec '${process.execPath}' '${featureServer}'`
    server = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel", "serve", "--mcp-command", command])
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } }
    const mode = isModern ? { pin: revision } : "legacy"
    client = new Client({ name: "test", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } })
    client.setRequestHandler("elicitation/create", ({ params }) =>
      params.mode === "url" ? { action: "decline" } : { action: "accept", content: { name: "Ada" } }
    )
    client.setRequestHandler("sampling/createMessage", () => ({
      model: "m",
      role: "assistant",
      content: { type: "text", text: "thought" }
    }))
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///home" }] }))
    client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data))
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri))
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [agentProgram, "channel", "mcp"],
        env: { PATH: process.env["PATH"] ?? "", HOME: home.path, ...throughFrontDoor(broker, script, initiator) },
        cwd: home.path,
        stderr: "ignore",
        maxBufferSize: 32 * 1024 * 1024
      })
    )
  })
  afterAll(async () => {
    await client?.close()
    await server?.[Symbol.asyncDispose]()
    await broker?.[Symbol.asyncDispose]()
    await home?.[Symbol.asyncDispose]()
  })

  it("is negotiated between the two, with the server's own name, instructions and capabilities", () => {
    assert.strictEqual(client.getNegotiatedProtocolVersion(), revision)
    assert.strictEqual(client.getServerVersion()?.name, "features")
    assert.strictEqual(client.getInstructions(), "Ask before you look.")
    assert.hasAllKeys(client.getServerCapabilities(), ["tools", "resources", "prompts", "completions", "logging"])
  })

  it("lists the server's tools with their schemas, and calls them and the member's", async () => {
    const { tools } = await client.listTools()
    assert.includeMembers(
      tools.map(({ name }) => name),
      ["ask", "weather", "ping"]
    )
    assert.isDefined(tools.find(({ name }) => name === "weather")?.outputSchema)
    const weather = await client.callTool({ name: "weather", arguments: { city: "Bern" } })
    assert.deepStrictEqual(weather.structuredContent, { sky: "clear" })
    const ping = await client.callTool({ name: "ping", arguments: {} })
    assert.deepStrictEqual(ping.structuredContent, { reply: "pong" })
  })

  it("lets the server elicit by a form and by a URL, sample, and list the client's roots", async () => {
    assert.strictEqual(textOf(await client.callTool({ name: "ask", arguments: {} })), "Ada,thought,file:///home")
    assert.strictEqual(textOf(await client.callTool({ name: "open", arguments: {} })), "decline")
  })

  it("reads resources of 9 MiB, resources by a template, and completes their names", async () => {
    const { contents } = await client.readResource({ uri: "note://one" })
    assert.strictEqual((contents[0] as { blob: string }).blob.length, 12 * 1024 * 1024)
    const of = await client.readResource({ uri: "note://of/ada" })
    assert.deepInclude(of.contents[0], { blob: "ada" })
    const ref = { type: "ref/resource" as const, uri: "note://of/{name}" }
    const { completion } = await client.complete({ ref, argument: { name: "name", value: "al" } })
    assert.deepStrictEqual(completion.values, ["alan"])
  })

  it("gets prompts", async () => {
    const { prompts } = await client.listPrompts()
    assert.deepStrictEqual(
      prompts.map(({ name }) => name),
      ["greet"]
    )
    const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } })
    assert.deepStrictEqual(messages[0]?.content, { type: "text", text: "Greet Ada." })
  })

  it("notifies the client of log messages and of resources that it has subscribed to", async () => {
    if (isModern) await client.listen({ resourceSubscriptions: ["note://one"] })
    else {
      await client.setLoggingLevel("warning")
      await client.subscribeResource({ uri: "note://one" })
    }
    const _meta = isModern ? { "io.modelcontextprotocol/logLevel": "warning" } : {}
    await client.callTool({ name: "log", arguments: {}, _meta })
    await client.callTool({ name: "update", arguments: {} })
    await eventually(() => logged.length > 0 && updated.length > 0, "both notifications come")
    assert.deepStrictEqual([logged, updated], [["it rains"], ["note://one"]])
  })
})
