/** `connect` and the direct path by QUIC, through an edge of the reference kind. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { eventually } from "@catenet/testing/Eventually"
import { Result } from "effect"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "vitest"
import { ask, connectArgs, portOf } from "../harness/MeshClients.ts"
import { counter, startOrigin } from "../harness/Origins.ts"
import { noQuic, startQuicEdge } from "../harness/QuicEdge.ts"

const started = async (origin: string, more: Readonly<Record<string, string>> = {}) => {
  const stack = new AsyncDisposableStack()
  const stage = stack.use(await makeSurroundings({ alpn: ["ct-edge"] }))
  const quic = stack.use(await startQuicEdge(stage.leaf, stage.edge.port))
  const home = stack.use(await makeHome())
  const agent = stack.use(
    runAgent(home, {
      CT_AGENT_CP_URL: stage.plane.url,
      CT_AGENT_TOKEN: "ab".repeat(32),
      CT_AGENT_ORIGIN: origin,
      CT_AGENT_CAPABILITY_OUT: `${home.path}/capability.bin`,
      CT_AGENT_STATE_DIR: `${home.path}/state`,
      CT_AGENT_TRANSPORTS: "quic",
      ...more
    })
  )
  await registered(agent)
  const client = (transports: string, ...flags: ReadonlyArray<string>) =>
    stack.use(
      runAgent(
        home,
        { CT_AGENT_CP_URL: stage.plane.url, CT_AGENT_TRANSPORTS: transports },
        connectArgs(home.path, "--listen", "127.0.0.1:0", ...flags)
      )
    )
  return { agent, client, quic, stage, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
}

describe.skipIf(noQuic).concurrent("a mesh tunnel by QUIC", () => {
  it("brings more TCP connections than one QUIC connection may carry, half-closed ones too", async () => {
    await using origin = await startOrigin(counter)
    await using world = await started(origin.address)
    const port = await portOf(world.client("quic"))
    const answers = await Promise.all(Array.from({ length: 120 }, (_, n) => ask(port, "x".repeat(n))))
    assert.deepStrictEqual(
      answers,
      Array.from({ length: 120 }, (_, n) => `${n} bytes`)
    )
    assert.strictEqual(world.stage.edge.asked.length, 0)
    assert.strictEqual(world.quic.roles.filter((role) => role === "C").length, 120)
  })

  it("carries datagrams with their boundaries", async () => {
    const origin = createSocket("udp4")
    origin.on("message", (data, from) => origin.send(`${data.length}`, from.port, from.address))
    origin.bind(0, "127.0.0.1")
    await once(origin, "listening")
    await using world = await started(`127.0.0.1:${origin.address().port}`, { CT_AGENT_ORIGIN_PROTO: "udp" })
    const port = await portOf(world.client("quic", "--udp"))
    const peer = createSocket("udp4")
    peer.bind(0, "127.0.0.1")
    await once(peer, "listening")
    for (const size of ["1", "1400", "0", "9000"]) {
      peer.send(Buffer.alloc(Number(size)), port, "127.0.0.1")
      const [answer] = await once(peer, "message")
      assert.strictEqual(String(answer), size)
    }
    peer.close()
    origin.close()
  })

  it("is what a client uses whose TLS does not come through, and it stays with that", async () => {
    await using origin = await startOrigin(counter)
    await using world = await started(origin.address)
    const client = world.client("")
    const port = await portOf(client)
    await world.stage.edge[Symbol.asyncDispose]()
    assert.strictEqual(await ask(port, "abc"), "3 bytes")
    assert.strictEqual(await ask(port, "abcd"), "4 bytes")
  })

  it("goes directly to the agent, without the edge, and strangers lose their connection", async () => {
    await using origin = await startOrigin(counter)
    await using world = await started(origin.address, { CT_AGENT_DIRECT_ADVERTISE: "127.0.0.1" })
    const { agent, client, quic } = world
    await eventually(() => quic.directs.length === 1, "the edge knows the port")
    const [listener] = quic.directs
    const port = await portOf(client("quic"))
    assert.strictEqual(await ask(port, "abc"), "3 bytes")
    assert.notInclude(quic.roles, "C")
    assert.include(quic.roles, "P")
    assert.include(await agent.said("directly by QUIC"), listener?.address ?? "")

    const roots = Certificate.pem(listener?.certificate ?? new Uint8Array())
    const dial = () => quic.dial(Number(listener?.address.split(":").at(-1)), roots)
    const mute = await dial()
    const stranger = await dial()
    const stream = Result.getOrThrow(stranger.open())
    stream.on("error", () => {})
    stream.end(Buffer.alloc(200, 1))
    assert.strictEqual((await text(stream).catch(() => "")).length, 0)
    assert.strictEqual((await stranger.closed).code, 1)
    // Neither does it keep one on which nothing is said.
    assert.strictEqual((await mute.closed).code, 1)

    // Through the edge when the flag says so.
    assert.strictEqual(await ask(await portOf(client("quic", "--via-edge")), "abcd"), "4 bytes")
    assert.include(quic.roles, "C")
  })
})
