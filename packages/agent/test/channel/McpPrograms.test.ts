/** Programs of other makers at the two ends of a channel: the MCP inspector, and reference servers. */
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { type Broker, startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { rejects } from "node:assert/strict"
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { installMcpPrograms } from "../../../../scripts/install.mjs"

const programs = join(import.meta.dirname, "../../../../tools/mcp/node_modules/.bin")
const run = promisify(execFile)

/** Programs that are started again and again are compiled once. */
const compiled = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }

/** The inspector at one end, and this program at the other, in a folder of their own. */
const between = async (name: string, ...args: ReadonlyArray<string>) => {
  const channel = makeChannel()
  const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
  const script = { authority: makeAuthority(), channel, members: [initiator, acceptor] }
  const home: Home = await makeHome()
  const broker: Broker = await startBroker(script)
  const command = ["exec", process.execPath, join(programs, name), ...args].join(" ")
  const server: Agent = runAgent(home, throughFrontDoor(broker, script, acceptor), [
    "channel",
    "serve",
    "--mcp-command",
    command
  ])
  const entry = {
    command: process.execPath,
    args: [agentProgram, "channel", "mcp"],
    env: { ...throughFrontDoor(broker, script, initiator), ...compiled }
  }
  writeFileSync(join(home.path, "mcp.json"), JSON.stringify({ mcpServers: { peer: entry } }))
  /** What the inspector prints when it starts our client as an entry of its configuration says. */
  const inspect = async (...method: ReadonlyArray<string>): Promise<unknown> => {
    const chosen = ["--cli", "--config", "mcp.json", "--server", "peer", ...method]
    const { stdout } = await run(process.execPath, [join(programs, "mcp-inspector"), ...chosen], {
      cwd: home.path,
      env: { PATH: process.env["PATH"], HOME: home.path, MCP_INSPECTOR_SECRET_STORE: "memory", ...compiled }
    })
    return JSON.parse(stdout)
  }
  return {
    home,
    names: async () =>
      ((await inspect("--method", "tools/list")) as { tools: ReadonlyArray<{ name: string }> }).tools.map(
        (tool) => tool.name
      ),
    call: (tool: string, ...given: ReadonlyArray<string>) =>
      inspect("--method", "tools/call", "--tool-name", tool, ...given.flatMap((each) => ["--tool-arg", each])),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await broker[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    }
  }
}

beforeAll(() => installMcpPrograms(), 180_000)

describe("the MCP inspector calls through a channel", () => {
  it("the reference server with every feature", async () => {
    await using peers = await between("mcp-server-everything")
    assert.includeMembers(await peers.names(), ["ping", "echo", "get-sum", "get-structured-content"])
    assert.deepNestedInclude(await peers.call("echo", "message=hello"), { "content[0].text": "Echo: hello" })
    assert.deepNestedInclude(await peers.call("get-sum", "a=2", "b=3"), {
      "content[0].text": "The sum of 2 and 3 is 5."
    })
    assert.deepNestedInclude(await peers.call("get-structured-content", "location=Chicago"), {
      "structuredContent.conditions": "Light rain / drizzle"
    })
  })

  it("the reference server of files", async () => {
    await using peers = await between("mcp-server-filesystem", ".")
    assert.includeMembers(await peers.names(), ["ping", "read_text_file", "write_file"])
    await peers.call("write_file", "path=note.txt", "content=over the channel")
    assert.strictEqual(readFileSync(join(peers.home.path, "note.txt"), "utf8"), "over the channel")
    assert.deepNestedInclude(await peers.call("read_text_file", "path=note.txt"), {
      "content[0].text": "over the channel"
    })
    await rejects(peers.call("read_text_file", "path=/etc/hostname"), /tool_is_error/)
  })
})
