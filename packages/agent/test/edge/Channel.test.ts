/** Members of a channel as people run them, `ct-agent channel`, at an edge as operators run it. */
import * as Hex from "@catenet/crypto/Hex"
import { type Agent, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { register } from "@catenet/testing/stack/channels/Registered"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { X509Certificate } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { freePort } from "../../../stack/src/Ports.ts"

const life = Effect.runSync(Scope.make())
let world: TestEdge
let root: string
let nodePort: number
beforeAll(async () => {
  nodePort = await Effect.runPromise(freePort("127.0.0.1"))
  const variables = {
    CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0",
    CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_RELAY_UPSTREAM: `127.0.0.1:${nodePort}`,
    CT_EDGE_RELAY_NODE_PEER: "node-1"
  }
  world = await Effect.runPromise(Effect.provideService(start(variables), Scope.Scope, life))
  root = new X509Certificate(world.meshRoot).raw.toString("hex")
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const ports = () => ({
  // Closed ports are refused at once; by QUIC that takes 5 s.
  CT_CHANNEL_TRANSPORTS: "tls",
  CT_CHANNEL_BROKER: `127.0.0.1:${world.bound.channelBroker?.port}`,
  CT_CHANNEL_RELAY: `127.0.0.1:${world.bound.channelRelay?.port}`,
  CT_CHANNEL_RELAY_ONLY: "1",
  CT_CHANNEL_FRONT_DOOR: `127.0.0.1:${world.frontDoor}`,
  CT_CHANNEL_FRONT_DOOR_CERT: root
})
const ways = {
  "its own ports": {},
  "the front door alone": { CT_CHANNEL_FRONT_DOOR_ONLY: "1" },
  "the front door, because its own ports are closed": {
    CT_CHANNEL_BROKER: "127.0.0.1:1",
    CT_CHANNEL_RELAY: "127.0.0.1:1"
  }
}

/** A port at which nothing listens. */
const closed = "127.0.0.1:1"
const byWebSocket = () => ({
  CT_CHANNEL_BROKER: closed,
  CT_CHANNEL_RELAY: closed,
  CT_CHANNEL_FRONT_DOOR: closed,
  CT_CHANNEL_WEBSOCKET: `ws://127.0.0.1:${world.bound.channelWebSocket?.port}/ws/channel`
})

const pairs = [
  ["its own ports", "its own ports"],
  ["its own ports", "the front door alone"],
  ["the front door, because its own ports are closed", "its own ports"]
] as const

const serving = {
  CT_CHANNEL_SERVE: "1",
  CT_AGENT_SERVICE_HANDLER_CMD: "tr a-z A-Z",
  CT_AGENT_SERVICES: "text_generation"
}

describe("two agents at an edge", () => {
  for (const [served, called] of pairs) {
    const [servedBy, calledBy] = [ways[served], ways[called]]
    it(`call a service, one by ${served}, the other by ${called}`, async () => {
      const channel = makeChannel()
      const [caller, server] = [channel.member("initiate"), channel.member("accept")]
      register(world, channel, caller, server)
      await using home = await makeHome()
      await using one = runAgent(home, { ...server.env, ...ports(), ...servedBy, ...serving }, ["channel"])
      const env = { ...caller.env, ...ports(), ...calledBy, CT_CHANNEL_CALL_SERVICE: "text_generation" }
      await using two: Agent = runAgent(home, env, ["channel"], "hello")
      assert.strictEqual(await two.exited, 0, [...one.lines, ...two.lines].join("\n"))
      assert.strictEqual(two.stdout(), "HELLO\n")
      assert.strictEqual(served === "its own ports", /open, by (?:relay|broker)/.test(one.lines.join("\n")))
    })
  }

  it("call a service, one by a WebSocket because all else is closed, and pipe nothing over it", async () => {
    const channel = makeChannel()
    const [caller, server] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, caller, server)
    await using home = await makeHome()
    await using one = runAgent(home, { ...server.env, ...ports(), ...serving }, ["channel"])
    const env = { ...caller.env, ...ports(), ...byWebSocket() }
    const text = "x".repeat(60_000)
    await using two = runAgent(home, { ...env, CT_CHANNEL_CALL_SERVICE: "text_generation" }, ["channel"], text)
    assert.strictEqual(await two.exited, 0, [...one.lines, ...two.lines].join("\n"))
    assert.strictEqual(two.stdout(), `${text.toUpperCase()}\n`)
    await two.said("open, by websocket")
    await using pipe = runAgent(home, env, ["channel"], "x")
    assert.strictEqual(await pipe.exited, 5)
    await pipe.said("CT_CHANNEL_WEBSOCKET has no effect with a session as raw bytes")
    const elsewhere = { CT_CHANNEL_CALL: "tools/list", CT_CHANNEL_WEBSOCKET: env.CT_CHANNEL_WEBSOCKET.slice(0, -1) }
    await using lost = runAgent(home, { ...env, ...elsewhere }, ["channel"])
    assert.strictEqual(await lost.exited, 5)
    assert.include(lost.lines.at(-1), "HTTP 404, there are no channels at this address; check CT_CHANNEL_WEBSOCKET")
  })

  it("go through a relay node, by the gate of the edge or past it", async () => {
    const channel = makeChannel()
    const [caller, server] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, caller, server)
    await using home = await makeHome()
    await using node = runAgent(home, { CT_RELAY_NODE_LISTEN: `127.0.0.1:${nodePort}` }, ["relay-node"])
    await node.said("relaying members of channels at")
    const gate = { CT_CHANNEL_RELAY_GATE: `127.0.0.1:${world.frontDoor}`, CT_CHANNEL_RELAY_GATE_CERT: root }
    await using one = runAgent(home, { ...server.env, ...ports(), ...gate, ...serving }, ["channel"])
    const env = { ...caller.env, ...ports(), ...gate, CT_CHANNEL_CALL_SERVICE: "text_generation" }
    await using two = runAgent(home, env, ["channel"], "hello")
    await two.said("open, by gate")
    const circuit = { CT_CHANNEL_CIRCUIT_RELAY: `/ip4/127.0.0.1/tcp/${nodePort}` }
    const others = makeChannel()
    const [left, right] = [others.member("initiate"), others.member("accept")]
    register(world, others, left, right)
    await using three = runAgent(home, { ...left.env, ...ports(), ...circuit }, ["channel"], "from left")
    await using four = runAgent(home, { ...right.env, ...ports(), ...circuit }, ["channel"], "from right")
    assert.deepStrictEqual([await three.exited, await four.exited], [0, 0], [...three.lines, ...four.lines].join("\n"))
    assert.deepStrictEqual([three.stdout(), four.stdout()], ["from right", "from left"])
    await three.said("open, by circuit")
    assert.strictEqual(await two.exited, 0, [...one.lines, ...two.lines].join("\n"))
    assert.strictEqual(two.stdout(), "HELLO\n")
    node.kill()
    await node.exited
    await using lost = runAgent(home, { ...env, CT_CHANNEL_CALL_SERVICE: "", CT_CHANNEL_CALL: "tools/list" }, [
      "channel"
    ])
    assert.strictEqual(await lost.exited, 5)
    assert.include(lost.lines.at(-1), "does not reach its relay node")
  })

  it("show which way a session goes, in status, metrics and events", async () => {
    const channel = makeChannel()
    const [caller, server] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, caller, server)
    await using home = await makeHome()
    const port = await Effect.runPromise(freePort("127.0.0.1"))
    const observed = { CT_AGENT_METRICS_LISTEN: `127.0.0.1:${port}`, CT_AGENT_STATE_DIR: "server" }
    const waiting = { CT_AGENT_SERVICE_HANDLER_CMD: "until [ -e go ]; do sleep 0.05; done; cat" }
    await using one = runAgent(home, { ...server.env, ...ports(), ...serving, ...waiting, ...observed }, ["channel"])
    const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    await one.said("/status")
    assert.notInclude(await read("/status"), "channel_sessions")
    await eventually(async () => (await read("/healthz")) === "ok", "a member that waits is healthy")
    assert.include(await read("/status"), `"channel_state":"waiting"`)
    await using two = runAgent(
      home,
      { ...caller.env, ...ports(), CT_CHANNEL_CALL_SERVICE: "text_generation" },
      ["channel"],
      "x"
    )
    await two.said("open, by relay")
    await eventually(async () => (await read("/status")).includes("channel_sessions"), "the status names the session")
    assert.deepStrictEqual(JSON.parse(await read("/status")).channel_sessions, [
      { carrier: "relay", total: 1, open: 1 }
    ])
    assert.include(await read("/status"), `"channel_state":"in-session"`)
    assert.strictEqual(await read("/healthz"), "ok")
    await writeFile(`${home.path}/go`, "")
    assert.strictEqual(await two.exited, 0)
    await eventually(
      async () => (await read("/metrics")).includes(`ct_agent_channel_sessions_open{carrier="relay"} 0`),
      "the metrics see its end"
    )
    assert.include(await read("/metrics"), `ct_agent_channel_sessions_total{carrier="relay"} 1`)
    const events = (await read("/events"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      events.map(({ kind, peer, state }) => [kind, state, peer]),
      [
        ["channel_session", "open", Hex.encode(caller.holder)],
        ["tool_call", undefined, Hex.encode(caller.holder)],
        ["channel_session", "close", Hex.encode(caller.holder)]
      ]
    )
    await one.said(" sent, ")
  })

  it("let the edge say who of two members with both directions begins", async () => {
    const channel = makeChannel()
    const [a, b] = [channel.member("both"), channel.member("both")]
    register(world, channel, a, b)
    await using home = await makeHome()
    await using one = runAgent(home, { ...a.env, ...ports() }, ["channel"], "from a")
    await using two = runAgent(home, { ...b.env, ...ports() }, ["channel"], "from b")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
    assert.deepStrictEqual([one.stdout(), two.stdout()], ["from b", "from a"])
  })

  it("are refused with the next step when the channel does not know the holder, or its operator did not sign", async () => {
    const channel = makeChannel()
    const [stranger, forged] = [channel.member("initiate"), channel.member("initiate")]
    register(world, { ...channel, operator: makeChannel().operator }, forged)
    await using home = await makeHome()
    for (const [who, token] of [
      [stranger, "not-member"],
      [forged, "grant-verify"]
    ] as const) {
      await using agent = runAgent(home, { ...who.env, ...ports() }, ["channel"])
      assert.strictEqual(await agent.exited, 4)
      assert.include(agent.lines.at(-1), `(${token})`)
      assert.include(agent.lines.at(-1), "Ask the")
    }
    const port = await Effect.runPromise(freePort("127.0.0.1"))
    const accepting = channel.member("accept")
    const observed = { CT_AGENT_METRICS_LISTEN: `127.0.0.1:${port}`, CT_CHANNEL_SERVE: "1" }
    await using server = runAgent(home, { ...accepting.env, ...ports(), ...observed }, ["channel"])
    await server.said("(not-member)")
    await eventually(async () => {
      const health = await fetch(`http://127.0.0.1:${port}/healthz`)
      return health.status === 503 && /^refused: .*not-member.* Ask the/.test(await health.text())
    }, "a refused member says so")
  })
})
