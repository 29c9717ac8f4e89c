/** The direct path of the mesh plane: offered inside the Noise session, dialled over TCP, and never a reason to fail. */
import * as Capability from "@catenet/crypto/Capability"
import { native } from "@catenet/crypto/native"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeSurroundings, registered, type Surroundings } from "@catenet/testing/agent/Surroundings"
import { Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "vitest"
import { freePort } from "../../../stack/src/Ports.ts"
import * as MeshHandshake from "../../src/mesh/MeshHandshake.ts"
import { ask, connectArgs, portOf } from "../harness/MeshClients.ts"
import { counter, echo, startOrigin } from "../harness/Origins.ts"

const started = async (
  stage: Surroundings,
  home: Home,
  origin: string,
  more: Readonly<Record<string, string>> = {}
) => {
  const agent = runAgent(home, {
    CT_AGENT_CP_URL: stage.plane.url,
    CT_AGENT_TOKEN: "ab".repeat(32),
    CT_AGENT_ORIGIN: origin,
    CT_AGENT_CAPABILITY_OUT: `${home.path}/capability.bin`,
    CT_AGENT_STATE_DIR: `${home.path}/state`,
    CT_AGENT_RECONNECT_BASE_MS: "100",
    CT_AGENT_DIRECT_ADVERTISE: "127.0.0.1",
    ...more
  })
  await registered(agent)
  return agent
}

const connected = (stage: Surroundings, home: Home, ...more: ReadonlyArray<string>) =>
  runAgent(home, { CT_AGENT_CP_URL: stage.plane.url }, connectArgs(home.path, "--listen", "127.0.0.1:0", ...more))

const directPort = async (agent: Agent) =>
  Number(/directly to .*:(\d+)/.exec(await agent.said("may come directly"))?.[1])

describe("a mesh client", () => {
  it("uses the agent's own port, and the edge again when that port closes", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(counter)
    await using home = await makeHome()
    await using first = await started(stage, home, origin.address, {
      CT_AGENT_ORIGIN_KEY: `${home.path}/origin.key`,
      // No other process may listen there when the agent is gone.
      CT_AGENT_DIRECT_PORT: String(await Effect.runPromise(freePort("127.0.0.1")))
    })
    await using client = connected(stage, home)
    const port = await portOf(client)
    assert.strictEqual(await ask(port, "xx"), "2 bytes")
    await client.said(`connected directly to 127.0.0.1:${await directPort(first)}`)
    // The stream that asked was given up before it cost the origin a connection.
    assert.strictEqual(origin.connections(), 1)
    stage.edge.cut()
    assert.strictEqual(await ask(port, "x".repeat(70_000)), "70000 bytes")
    first.kill("SIGKILL")
    await first.exited
    await using _second = await started(stage, home, origin.address, {
      CT_AGENT_ORIGIN_KEY: `${home.path}/origin.key`,
      CT_AGENT_DIRECT_ADVERTISE: ""
    })
    assert.strictEqual(await ask(port, "xxx"), "3 bytes")
    await client.said("the direct path is gone")
  })

  it("stays on the edge when the advertised address does not lead to the agent, also for a server that speaks first", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin((socket) => socket.end("220 ready"))
    await using home = await makeHome()
    // The agent listens on another address than the one that it tells.
    await using agent = await started(stage, home, origin.address, { CT_AGENT_DIRECT_ADVERTISE: "192.0.2.1" })
    await agent.said("may come directly to 192.0.2.1")
    await using client = connected(stage, home)
    const port = await portOf(client)
    for (let asked = 0; asked < 3; asked++) assert.strictEqual(await ask(port, ""), "220 ready")
    assert.isFalse(client.lines.some((line) => line.includes("directly")))
    assert.strictEqual(origin.connections(), 3)
  })

  it("asks for no direct path with --via-edge", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(counter)
    await using home = await makeHome()
    await using _agent = await started(stage, home, origin.address)
    await using client = connected(stage, home, "--via-edge")
    assert.strictEqual(await ask(await portOf(client), "x"), "1 bytes")
    assert.isFalse(client.lines.some((line) => line.includes("directly")))
  })

  it("carries datagrams directly", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const origin = createSocket("udp4")
    origin.on("message", (data, from) => origin.send(data, from.port, from.address))
    origin.bind(0, "127.0.0.1")
    await once(origin, "listening")
    const peer = createSocket("udp4")
    peer.bind(0, "127.0.0.1")
    try {
      await using _agent = await started(stage, home, `127.0.0.1:${origin.address().port}`, {
        CT_AGENT_ORIGIN_PROTO: "udp"
      })
      await using client = connected(stage, home, "--udp")
      peer.send("ping", await portOf(client), "127.0.0.1")
      assert.strictEqual(String((await once(peer, "message"))[0]), "ping")
      await client.said("connected directly")
    } finally {
      peer.close()
      origin.close()
    }
  })
})

/** Shakes hands with the direct listener as a client that shows this payload; the first byte of the answer, if any. */
const knock = async (port: number, capability: Capability.Capability, payload: Uint8Array) => {
  const socket: Socket = connect({ port, host: "127.0.0.1" })
  socket.on("error", () => {})
  const shaken = await Effect.runPromise(
    MeshHandshake.begin(socket, capability.originKey, payload).pipe(
      Effect.provide(SecureRandom.layerWebCrypto),
      Effect.result
    )
  )
  socket.destroy()
  return Result.isSuccess(shaken)
}

describe("the direct listener", () => {
  it("answers holders of the capability only, records who is refused, and has strangers of one address leave room for another", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = await started(stage, home, origin.address, { CT_AGENT_METRICS_LISTEN: "127.0.0.1:0" })
    const port = await directPort(agent)
    const capability = Result.getOrThrow(Capability.decode(await readFile(`${home.path}/capability.bin`)))
    const token = Buffer.from("ab".repeat(32), "hex")
    const visitorToken = Redacted.value(VisitorToken.of(native, Redacted.make(token)))
    for (const shown of [token, visitorToken]) assert.isTrue(await knock(port, capability, MeshHandshake.ticket(shown)))
    for (const payload of [new Uint8Array(), MeshHandshake.question, MeshHandshake.ticket(Buffer.alloc(32))])
      assert.isFalse(await knock(port, capability, payload))
    await agent.said("reason=a direct client showed a wrong ticket")
    const stranger = { ...capability, originKey: native.x25519.keyPair(new Uint8Array(32).fill(5)).publicKey }
    assert.isFalse(await knock(port, stranger, MeshHandshake.ticket(token)))
    const base = /http:\/\/[^/]+/.exec(await agent.said("status, metrics and events at"))?.[0]
    const metrics = await (await fetch(`${base}/metrics`)).text()
    assert.include(metrics, 'ct_agent_events_total{kind="direct_refused"} 3\n')
    assert.include(metrics, "ct_tunnels_failed_total 4\n")

    const crowd = { port, host: "127.0.0.1", localAddress: "127.0.0.2" }
    const silent = Array.from({ length: 64 }, () => connect(crowd).on("error", () => {}))
    await Promise.all(silent.map((socket) => once(socket, "connect")))
    const [error] = await once(connect(crowd), "error")
    assert.strictEqual(error.code, "ECONNRESET")
    assert.isTrue(await knock(port, capability, MeshHandshake.ticket(token)), "a client of another address")
    assert.strictEqual(silent.filter(({ destroyed }) => destroyed).length, 1, "it took the place of one of the crowd")
    for (const socket of silent) socket.destroy()
  })

  it("is left out with a log line when its port is taken", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(counter)
    await using home = await makeHome()
    await using agent = await started(stage, home, origin.address, { CT_AGENT_DIRECT_PORT: String(origin.port) })
    await agent.said("CT_AGENT_DIRECT_PORT: cannot listen on port")
    await using client = connected(stage, home)
    assert.strictEqual(await ask(await portOf(client), "x"), "1 bytes")
  })
})
