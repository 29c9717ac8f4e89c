/** `ct-agent mcp gateway` between an official client and the official servers of several peers, one of whom never comes. */
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { type Broker, startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { GatewayPeer } from "../../src/channel/mcp/GatewayPeer.ts"
import * as McpGateway from "../../src/channel/mcp/McpGateway.ts"
import * as McpProbes from "../harness/McpProbes.ts"
import * as Endpoint from "../mcp/Endpoint.ts"

const harness = (name: string) => fileURLToPath(new URL(`../harness/${name}`, import.meta.url))
const namesOf = ({ tools }: { readonly tools: ReadonlyArray<{ readonly name: string }> }) =>
  tools.map(({ name }) => name)

const hasPython = spawnSync("python3", ["-c", "import mcp; assert mcp.Client"]).status === 0
if (!hasPython) process.stderr.write("SKIPPED: no python3 with the package mcp 2 is here to speak MCP\n")

describe("an MCP gateway", () => {
  let home: Home
  let session: McpProbes.Connected
  let client: McpProbes.Connected["client"]
  const brokers: Array<Broker> = []
  const servers = new Map<string, Agent>()
  const restart = new Map<string, () => void>()
  let changes = 0
  let http: Promise<URL>

  /** A channel with a file for the gateway; its other member serves this program, if any. */
  const peer = async (name: string, program: string | undefined) => {
    const channel = makeChannel()
    const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
    const script = { authority: makeAuthority(), channel, members: [initiator, acceptor] }
    const broker = await startBroker(script)
    const lines = Object.entries(throughFrontDoor(broker, script, initiator)).map(([key, value]) => `${key}=${value}\n`)
    writeFileSync(join(home.path, `${name}.env`), lines.join(""), { mode: 0o600 })
    if (program === undefined) return broker[Symbol.asyncDispose]()
    brokers.push(broker)
    const command = `exec '${process.execPath}' '${harness(program)}'`
    const start = () =>
      servers.set(
        name,
        runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel", "serve", "--mcp-command", command])
      )
    start()
    restart.set(name, start)
  }

  beforeAll(async () => {
    home = await makeHome()
    await Promise.all([peer("desk", "McpFeatures.ts"), peer("rack", "McpServer.ts"), peer("away", undefined)])
    session = await McpProbes.connected(
      "2025-11-25",
      {
        args: [agentProgram, "mcp", "gateway", "desk.env", "rack.env", "away.env"],
        env: { PATH: process.env["PATH"] ?? "", HOME: home.path },
        cwd: home.path
      },
      "desk."
    )
    client = session.client
    const { promise, resolve } = Promise.withResolvers<URL>()
    http = promise
    const listening = runAgent(home, {}, ["mcp", "gateway", "--http", "0", "desk.env", "rack.env", "away.env"])
    servers.set("http", listening)
    await eventually(() => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/mcp/u.exec(listening.stdout()) ?? []
      if (address !== undefined) resolve(new URL(address))
      return address !== undefined
    }, "the gateway listens")
    client.setNotificationHandler("notifications/tools/list_changed", () => void changes++)
  })
  afterAll(async () => {
    await client?.close()
    for (const each of [...servers.values(), ...brokers]) await each[Symbol.asyncDispose]()
    await home?.[Symbol.asyncDispose]()
  })
  const lists = (name: string) =>
    eventually(async () => namesOf(await client.listTools()).includes(name), `the list has ${name}`)

  it("lists the tools of each peer under its name while another one is away, and routes calls to it", async () => {
    await Promise.all([lists("desk.weather"), lists("rack.whoami")])
    const weather = await client.callTool({ name: "desk.weather", arguments: { city: "Bern" } })
    assert.deepStrictEqual(weather.structuredContent, { sky: "clear" })
    assert.match(McpProbes.textOf(await client.callTool({ name: "rack.whoami", arguments: {} })) ?? "", /^\d+$/u)
    assert.include(client.getInstructions(), "desk, rack, away")
  })

  it("answers a call of an absent peer with the reason, and one of an unknown tool with the peers", async () => {
    const answer = await client.callTool({ name: "away.ping", arguments: {} })
    assert.isTrue(answer.isError)
    assert.include(McpProbes.textOf(answer), "away is not there: ")
    const unknown = await client.callTool({ name: "nowhere.ping", arguments: {} }).then(() => "answered", String)
    assert.include(unknown, "The peers are: desk, rack, away")
    const read = client.readResource({ uri: "note://one" })
    assert.include(await read.then(() => "answered", String), "The peers are: desk, rack, away")
  })

  it.each(McpProbes.column("gateway"))("%s", async (_, feature, passes) => {
    await lists("desk.weather")
    await McpProbes.tried(session, feature, passes)
  })

  describe("over HTTP", () => {
    let here: McpProbes.Connected
    beforeAll(async () => {
      here = await McpProbes.connected("2025-11-25", await http, session.prefix)
    })
    afterAll(() => here?.client.close())
    it.each(McpProbes.column("gateway"))("%s", async (_, feature, passes) => {
      await eventually(async () => namesOf(await here.client.listTools()).includes("desk.weather"), "desk is there")
      await McpProbes.tried(here, feature, passes)
    })
  })

  it("over HTTP answers to its own address and to pages of this machine alone", async () => {
    const url = await http
    const post = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(url, { method: "POST", headers }, ({ statusCode }) => resolve(statusCode))
        sent.on("error", reject).end()
      })
    assert.strictEqual(await post({ host: "attacker.test" }), 421)
    assert.strictEqual(await post({ origin: "https://attacker.test" }), 403)
    assert.strictEqual(await post({ origin: "http://localhost:3000" }), 415)
  })

  it("over HTTP needs a port that exists and is free", async () => {
    const { port } = await http
    for (const [given, code, why] of [
      ["65536", 2, "--http takes a port from 1 to 65535"],
      [port, 3, `port ${port} cannot be opened`]
    ] as const) {
      await using agent = runAgent(home, {}, ["mcp", "gateway", "--http", given, "desk.env"])
      assert.strictEqual(await agent.exited, code, agent.lines.join("\n"))
      assert.include(agent.lines.join("\n"), why)
    }
  })

  it.live("is a server that a tunnel can give an address to", () =>
    Effect.gen(function* () {
      const command = `cd '${home.path}' && HOME='${home.path}' exec '${process.execPath}' '${agentProgram}' mcp gateway desk.env`
      const { client: visitor } = yield* Endpoint.client(yield* Endpoint.open(command))
      yield* Effect.promise(async () => {
        await eventually(async () => namesOf(await visitor.listTools()).includes("desk.weather"), "desk is there")
        const { structuredContent } = await visitor.callTool({ name: "desk.weather", arguments: { city: "Bern" } })
        assert.deepStrictEqual(structuredContent, { sky: "clear" })
      })
    }).pipe(Effect.scoped)
  )

  it.skipIf(!hasPython)("over HTTP serves the official SDK of Python", async () => {
    const args = [harness("mcp_peer.py"), "http", (await http).href, "desk."]
    const { stdout } = await promisify(execFile)("python3", args)
    assert.deepInclude(JSON.parse(stdout), {
      revision: "2025-11-25",
      sky: { sky: "clear" },
      asked: "Ada,thought,file:///home",
      prompt: "Greet Ada.",
      blob: "ada"
    })
  })

  it("passes progress and cancellation, while other calls are answered", async () => {
    await lists("rack.slow")
    const abort = new AbortController()
    const progress: Array<unknown> = []
    const slow = client
      .callTool(
        { name: "rack.slow", arguments: {} },
        { signal: abort.signal, onprogress: ({ message }) => void progress.push(message) }
      )
      .then(
        () => "answered",
        () => "cancelled"
      )
    await eventually(() => progress.length > 0, "progress comes")
    assert.deepStrictEqual(progress, ["half"])
    assert.match(McpProbes.textOf(await client.callTool({ name: "rack.whoami", arguments: {} })) ?? "", /^\d+$/u)
    abort.abort()
    assert.strictEqual(await slow, "cancelled")
    await eventually(() => existsSync(join(home.path, "mcp-server.log")), "the server hears of it")
  })

  it("answers more small requests in a row than may wait at once", async () => {
    for (let n = 0; n < 1100; n++) await client.ping()
  })

  it("searches tools in place of listing more than forty, and calls what it has found", async () => {
    await lists("rack.multiply")
    const before = changes
    await client.callTool({ name: "rack.multiply", arguments: {} })
    await eventually(() => changes > before, "the client hears of the change")
    await eventually(
      async () => namesOf(await client.listTools()).join() === "find_tools,call_tool",
      "the list is short"
    )
    const many = await client.callTool({ name: "find_tools", arguments: { query: "many-500" } })
    const { tools } = many.structuredContent as { tools: ReadonlyArray<{ name: string }> }
    assert.strictEqual(tools[0]?.name, "rack.many-500")
    const given = { name: "rack.many-500", arguments: {} }
    assert.strictEqual(McpProbes.textOf(await client.callTool({ name: "call_tool", arguments: given })), "500")
    assert.strictEqual(McpProbes.textOf(await client.callTool({ name: "rack.many-501", arguments: {} })), "501")
    assert.include(McpProbes.textOf(many), "away is not there")
  })

  it("answers a result of 8 MiB, and finds a peer again that was started anew, though the edge kept the dead one", async () => {
    assert.lengthOf(
      McpProbes.textOf(await client.callTool({ name: "rack.huge-8", arguments: {} })) ?? "",
      8 * 1024 * 1024
    )
    servers.get("rack")?.kill()
    await servers.get("rack")?.exited
    const before = performance.now()
    restart.get("rack")?.()
    await eventually(async () => {
      const answer = await client.callTool({ name: "rack.whoami", arguments: {} })
      return answer.isError !== true && /^\d+$/u.test(McpProbes.textOf(answer) ?? "")
    }, "the peer answers again")
    assert.isBelow(performance.now() - before, onThisMachine(8_000))
  })
})

describe("the client of a gateway", () => {
  it.effect("may have 1024 requests without an answer, and is refused the next", () =>
    Effect.gen(function* () {
      const peer: GatewayPeer = {
        name: "p",
        tools: () => [{ name: "t" }],
        absence: () => undefined,
        tried: Effect.void,
        capabilities: () => undefined,
        request: () => Effect.never,
        tell: () => {},
        setLevel: Effect.void
      }
      const [stdin, stdout] = [new PassThrough(), new PassThrough()]
      let text = ""
      stdout.on("data", (chunk: Buffer) => void (text += chunk.toString()))
      yield* Effect.forkScoped(McpGateway.serve(() => Effect.succeed([peer]), stdin, stdout))
      const say = (id: number, method: string, params: object) =>
        stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
      const answers = (n: number) => Effect.promise(() => eventually(() => text.split("\n").length > n, `${n} answers`))
      say(0, "initialize", { protocolVersion: "2024-11-05" })
      yield* answers(1)
      assert.include(text, '"protocolVersion":"2024-11-05"')
      for (let id = 1; id <= McpGateway.maxRunning; id++) say(id, "tools/call", { name: "p.t" })
      say(5000, "ping", {})
      yield* answers(2)
      assert.include(text, "1024 requests wait for an answer")
      stdin.write(
        `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })}\n`
      )
      say(5001, "ping", {})
      yield* answers(3)
      assert.include(text, '"id":5001')
      assert.lengthOf(text.match(/"error"/gu) ?? [], 1)
    }).pipe(Effect.scoped)
  )
})
