/** Every feature of MCP between an official client and an official server at the two ends of a channel, by revision of the protocol. */
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { type Broker, startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile, spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as McpProbes from "../harness/McpProbes.ts"

const featureServer = fileURLToPath(new URL("../harness/McpFeatures.ts", import.meta.url))
const channel = makeChannel()
const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
const script = { authority: makeAuthority(), channel, members: [initiator, acceptor] }
let home: Home
let broker: Broker
let server: Agent

beforeAll(async () => {
  broker = await startBroker(script)
  home = await makeHome()
  const command = `exec '${process.execPath}' '${featureServer}'`
  server = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel", "serve", "--mcp-command", command])
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await broker?.[Symbol.asyncDispose]()
  await home?.[Symbol.asyncDispose]()
})

const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

describe.each(revisions)("MCP %s through a channel", (revision) => {
  let session: McpProbes.Connected
  beforeAll(async () => {
    session = await McpProbes.connected(revision, {
      args: [agentProgram, "channel", "mcp"],
      env: { PATH: process.env["PATH"] ?? "", HOME: home.path, ...throughFrontDoor(broker, script, initiator) },
      cwd: home.path
    })
  })
  afterAll(() => session?.client.close())

  it("is negotiated between the two", () => {
    assert.strictEqual(session.client.getNegotiatedProtocolVersion(), revision)
  })

  it.each(McpProbes.column(revision))("%s", (_, feature, passes) => McpProbes.tried(session, feature, passes))
})

const python = fileURLToPath(new URL("../harness/mcp_peer.py", import.meta.url))
const hasPython = spawnSync("python3", ["-c", "import mcp; assert mcp.Client"]).status === 0
if (!hasPython) process.stderr.write("SKIPPED: no python3 with the package mcp 2 is here to speak MCP\n")

describe.skipIf(!hasPython)("the official SDK of Python", () => {
  it.each([
    { mode: "legacy", revision: "2025-11-25" },
    { mode: "auto", revision: "2026-07-28" }
  ])("as a client of $revision reaches every kind of feature through a channel", async ({ mode, revision }) => {
    const args = [python, "client", mode, process.execPath, agentProgram, "channel", "mcp"]
    const env = { PATH: process.env["PATH"], HOME: home.path, ...throughFrontDoor(broker, script, initiator) }
    const { stdout } = await promisify(execFile)("python3", args, { cwd: home.path, env })
    assert.deepStrictEqual(JSON.parse(stdout), {
      revision,
      tools: ["ask", "log", "open", "ping", "screenshot", "update", "wait", "weather"],
      sky: { sky: "clear" },
      asked: "Ada,thought,file:///home",
      prompt: "Greet Ada.",
      blob: "ada"
    })
  })

  it.each(["2025-11-25", "2026-07-28"])("as a server serves a client of %s through a channel", async (revision) => {
    const other = makeChannel()
    const [near, far] = [other.member("initiate"), other.member("accept")]
    const its = { authority: makeAuthority(), channel: other, members: [near, far] }
    await using edge = await startBroker(its)
    const command = `exec python3 '${python}' server`
    await using _server = runAgent(home, throughFrontDoor(edge, its, far), [
      "channel",
      "serve",
      "--mcp-command",
      command
    ])
    const { client } = await McpProbes.connected(revision, {
      args: [agentProgram, "channel", "mcp"],
      env: { PATH: process.env["PATH"] ?? "", HOME: home.path, ...throughFrontDoor(edge, its, near) },
      cwd: home.path
    })
    assert.strictEqual(client.getInstructions(), "Slowly.")
    const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } })
    assert.deepStrictEqual(sum.structuredContent, { result: 5 })
    // In the newest revision that SDK's own elicit needs a connection that it does not have on stdio.
    if (revision < "2026")
      assert.strictEqual(McpProbes.textOf(await client.callTool({ name: "ask", arguments: {} })), "Ada")
    const progress: Array<unknown> = []
    const onprogress = ({ message = "" }) => void progress.push(message)
    assert.strictEqual(
      McpProbes.textOf(await client.callTool({ name: "count", arguments: {} }, { onprogress })),
      "done"
    )
    await eventually(() => progress.length > 0, "progress comes")
    const { contents } = await client.readResource({ uri: "note://one" })
    assert.deepInclude(contents[0], { text: "a note" })
    const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } })
    assert.deepInclude(messages[0]?.content, { text: "Greet Ada." })
    await client.close()
  })
})
