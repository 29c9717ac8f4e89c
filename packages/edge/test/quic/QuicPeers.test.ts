/** Agents and clients of the mesh port on UDP, byte by byte, as those of the reference kind speak (data-plane 2). */
import { native } from "@catenet/crypto/native"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { tlsTo } from "@catenet/testing/edge/Agent"
import { adminToken } from "@catenet/testing/edge/ControlPlane"
import { start, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { untilSuccess } from "@catenet/testing/Eventually"
import { decodePeerReply, encodeQuicRole, type QuicRole, revokedClose } from "@catenet/wire/frames/QuicRole"
import * as Quic from "@catenet/wire/quic/process/QuicProcess"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { requestRendezvous } from "@catenet/wire/transport/MeshRendezvous"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Result } from "effect"
import { buffer } from "node:stream/consumers"

const program = QuicProgram.find()
const T = token("a")
const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

/** As the agent of the reference dials: no ALPN, `localhost`, the root of the edges. */
const dialer = (world: TestEdge, quic: Quic.QuicProcess) => ({
  dial: quic.dial({
    to: { address: "127.0.0.1", port: world.mesh },
    serverName: "localhost",
    roots: world.meshRoot,
    transport: { keepAlive: 5_000, idle: 30_000, streams: 100 }
  })
})

type Connection = Effect.Success<ReturnType<Quic.QuicProcess["dial"]>>

/** Says a role on a stream of its own, and gives what the edge replies. */
const say = (connection: Connection, role: QuicRole) =>
  Effect.promise(async () => {
    const stream = Result.getOrThrow(connection.open())
    stream.end(encodeQuicRole(role))
    return buffer(stream)
  })

/** A stream to the agent, as a mesh client opens it. */
const meet = async (connection: Connection) => {
  const routingToken = bytesOf(T)
  const stream = Result.getOrThrow(connection.open())
  const met = await requestRendezvous(stream, routingToken, async (challenge) => {
    for (let solution = 0n; ; solution++)
      if (ProofOfWork.solves(native, challenge, { solution, routingToken })) return solution
  })
  if (Result.isFailure(met)) throw new Error(met.failure.reason)
  return stream
}

describe.skipIf(program === undefined)("the mesh port on UDP", () => {
  it.live("registers agents, binds their hosts, and brings visitors and clients to them until they are revoked", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_QUIC: "on" })
      const quic = yield* Quic.start(program!)
      const { dial } = dialer(world, quic)
      const agent = yield* untilSuccess(dial)
      const streams: Array<CarrierStream> = []
      agent.take((stream) => {
        streams.push(stream)
        stream.once("data", (head: Buffer) => {
          if (head.toString().startsWith("GET "))
            return void stream.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
          stream.end(head)
        })
        stream.resume()
      })
      const seen = yield* say(agent, { role: "W" })
      assert.match(seen.toString("latin1", 1), /^127\.0\.0\.1:\d+$/u)
      assert.strictEqual((yield* say(agent, { role: "A", token: bytesOf(T) })).toString(), "OK")
      const { body } = yield* Effect.promise(() => world.admin("GET", "/internal/quic/listeners"))
      assert.deepStrictEqual(body, { listeners: ["mesh"] })

      // A mesh client.
      const client = yield* dial
      const rendezvous = yield* Effect.promise(() => meet(client))
      rendezvous.end("noise")
      assert.strictEqual((yield* Effect.promise(() => buffer(rendezvous))).toString(), "noise")

      // A visitor of a host.
      yield* Effect.promise(() => world.authorize(T, "quic.zone.test", "gelb"))
      assert.strictEqual(
        (yield* say(agent, { role: "H", token: bytesOf(T), host: "other.zone.test" })).toString(),
        "NO"
      )
      assert.strictEqual((yield* say(agent, { role: "H", token: bytesOf(T), host: "QUIC.zone.test" })).toString(), "OK")
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, "quic.zone.test"))
      visitor.write("GET / HTTP/1.1\r\nHost: quic.zone.test\r\nConnection: close\r\n\r\n")
      const answer = yield* Effect.promise(() => buffer(visitor))
      assert.match(answer.toString(), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nhi$/u)

      // Where the agent listens for clients of its own.
      const listener = { address: "192.0.2.7:4001", certificate: bytesOf("308201") }
      assert.deepStrictEqual([...(yield* say(client, { role: "P", token: bytesOf(T) }))], [0])
      assert.strictEqual((yield* say(agent, { role: "D", token: bytesOf(T), listener })).toString(), "OK")
      const reply = decodePeerReply(yield* say(client, { role: "P", token: bytesOf(T) }))
      assert.deepStrictEqual(Result.getOrThrow(reply).value, listener)

      // Revoked by the role: only with the admin token.
      const revoke = (admin: string) => say(client, { role: "R", adminToken: bytesOf(admin), token: bytesOf(T) })
      assert.strictEqual((yield* revoke(token("0"))).toString(), "NO")
      assert.strictEqual((yield* revoke(adminToken)).toString(), "OK")
      const { code, reason } = yield* Effect.promise(() => agent.closed)
      assert.deepStrictEqual({ code, reason }, revokedClose)
      assert.strictEqual((yield* say(yield* dial, { role: "A", token: bytesOf(T) })).toString(), "NO")
      const silent = yield* say(client, { role: "P", token: bytesOf(T) })
      assert.deepStrictEqual([...silent], [0])

      // Anything else ends the stream and not the connection.
      const odd = Result.getOrThrow(client.open())
      odd.end("?")
      assert.strictEqual((yield* Effect.promise(() => buffer(odd).catch(() => Buffer.alloc(0)))).length, 0)
      assert.isFalse(client.isClosed)
      agent.close()
      client.close()
    }).pipe(Effect.scoped)
  )

  it.live("connections that register nothing leave room for an agent, and one tunnel leaves room for another", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_QUIC: "on", CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: "4" })
      yield* Effect.promise(() => world.authorize(T, "a.zone.test"))
      yield* Effect.promise(() => world.authorize(token("b"), "b.zone.test"))
      const quic = yield* Quic.start(program!)
      const { dial } = dialer(world, quic)
      yield* untilSuccess(dial)
      for (let count = 0; count < 6; count++) yield* dial
      const greedy = yield* Effect.replicateEffect(dial, 4)
      for (const agent of greedy)
        assert.strictEqual((yield* say(agent, { role: "A", token: bytesOf(T) })).toString(), "OK")
      const fifth = yield* dial
      const refused = yield* Effect.exit(say(fifth, { role: "A", token: bytesOf(T) }))
      assert.isTrue(Exit.isFailure(refused) || refused.value.length === 0, "a NO would mean that the token is revoked")
      const other = yield* dial
      assert.strictEqual((yield* say(other, { role: "A", token: bytesOf(token("b")) })).toString(), "OK")
      yield* Effect.promise(() => greedy[0]!.closed)
      assert.isFalse(other.isClosed)
    }).pipe(Effect.scoped)
  )

  it.live("fails over to another agent when a connection ends, and is gone with the edge", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_QUIC: "on", CT_EDGE_REQUIRE_HOST_AUTH: "0" })
      const quic = yield* Quic.start(program!)
      const { dial } = dialer(world, quic)
      const join = Effect.gen(function* () {
        const agent = yield* untilSuccess(dial)
        const name = String(agents.length)
        agent.take((stream) => void stream.once("data", () => stream.end(name)).resume())
        agents.push(agent)
        yield* say(agent, { role: "A", token: bytesOf(T) })
      })
      const agents: Array<Connection> = []
      yield* join
      yield* join
      const visit = Effect.promise(async () => {
        const stream = await meet(agents.at(-1)!)
        stream.write("hello")
        return (await buffer(stream)).toString()
      })
      const first = yield* visit
      agents[Number(first)]!.close()
      agents.push(yield* dial)
      assert.strictEqual(yield* visit, first === "0" ? "1" : "0")
    }).pipe(Effect.scoped)
  )
})
