import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { untilSuccess } from "@catenet/testing/Eventually"
import { UdpLink } from "@catenet/testing/wire/quic/UdpLink"
import { readToEnd } from "@catenet/testing/wire/ReadToEnd"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect } from "node:net"
import { buffer } from "node:stream/consumers"
import { freePort } from "../../../stack/src/Ports.ts"
import { QuicDial } from "../../src/carrier/QuicDial.ts"
import * as DirectPath from "../../src/channel/session/DirectPath.ts"
import * as KeyProof from "../../src/channel/session/KeyProof.ts"
import * as DirectQuicListener from "../../src/mesh/DirectQuicListener.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { noQuic } from "../harness/QuicEdge.ts"

const layer = Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)
const secret = () => new Uint8Array(randomBytes(32))
const [own, peer, impostor] = [secret(), secret(), secret()].map((each) => native.x25519.keyPair(each)) as [
  ReturnType<typeof native.x25519.keyPair>,
  ReturnType<typeof native.x25519.keyPair>,
  ReturnType<typeof native.x25519.keyPair>
]
const here = { host: "127.0.0.1", port: 0 }

describe("the direct path", () => {
  it.live("takes the peer that proves its key, and gives silence, noise and impostors no byte", () =>
    Effect.gen(function* () {
      const listener = yield* DirectPath.listen(here)
      const strangers = Array.from({ length: 3 }, () => connect(listener.address.port))
      const received: Array<Buffer> = []
      for (const stranger of strangers)
        stranger
          .on("error", () => {})
          .on("data", (chunk: Buffer) => received.push(chunk))
          .on("connect", () => stranger.write("GET / HTTP/1.1\r\n\r\n"))
      const waiting = yield* Effect.forkScoped(DirectPath.awaitBriefly(listener, own, peer.publicKey))
      const wrong = yield* Effect.forkScoped(Effect.result(DirectPath.dial(listener.address, impostor, own.publicKey)))
      const dialled = yield* DirectPath.dialBriefly(listener.address, peer, own.publicKey)
      const { stream } = Option.getOrThrow(yield* Fiber.join(waiting))
      Option.getOrThrow(dialled).stream.write("hello")
      const [chunk] = yield* Effect.promise(() => once(stream, "data"))
      assert.strictEqual(String(chunk), "hello")
      assert.strictEqual((yield* Fiber.join(wrong))._tag, "Failure")
      assert.strictEqual(Buffer.concat(received).length, 0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("has strangers of one address leave room for a peer at another", () =>
    Effect.gen(function* () {
      const listener = yield* DirectPath.listen(here)
      const waiting = yield* Effect.forkScoped(DirectPath.awaitBriefly(listener, own, peer.publicKey))
      const crowd = { ...listener.address, localAddress: "127.0.0.2" }
      const silent = Array.from({ length: DirectPath.maxStrangers }, () => connect(crowd).on("error", () => {}))
      yield* Effect.promise(() => Promise.all(silent.map((socket) => once(socket, "connect"))))
      const [error] = yield* Effect.promise(() => once(connect(crowd), "error"))
      assert.strictEqual(error.code, "ECONNRESET")
      assert.isTrue(Option.isSome(yield* DirectPath.dialBriefly(listener.address, peer, own.publicKey)))
      assert.isTrue(Option.isSome(yield* Fiber.join(waiting)))
      for (const socket of silent) socket.destroy()
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it("is not dialled into a local network", () => {
    for (const endpoint of [
      "relay-only",
      "10.0.0.1:80",
      "127.0.0.1:80",
      "[::1]:80",
      "[fe80::1]:80",
      "203.0.113.7:0",
      "name:80",
      ""
    ])
      assert.isUndefined(DirectPath.dialable(endpoint), endpoint)
    assert.deepStrictEqual(DirectPath.dialable("203.0.113.7:80"), { host: "203.0.113.7", port: 80 })
    assert.deepStrictEqual(DirectPath.dialable("[2001:db8::1]:80"), { host: "2001:db8::1", port: 80 })
  })

  it("is not waited for where the edge sees this member at another address", () => {
    assert.isFalse(DirectPath.isReachable("203.0.113.7:80", "203.0.113.8:5"))
    for (const observed of ["203.0.113.7:5", "10.0.0.1:5", "[2001:db8::1]:5", undefined, "nonsense"])
      assert.isTrue(DirectPath.isReachable("203.0.113.7:80", observed), observed)
  })
})

describe.skipIf(noQuic)("the direct path by QUIC", () => {
  const quic = Layer.merge(layer, QuicDial.layer)
  const transport = { keepAlive: 5_000, idle: 20_000, streams: 1 }
  const processOf = Effect.flatMap(QuicDial, ({ process }) => process)

  it.live("is at the port of the listener, where a peer trusts any certificate, and strangers get no byte", () =>
    Effect.gen(function* () {
      const listener = yield* DirectPath.listen(here)
      const waiting = yield* Effect.forkScoped(DirectPath.awaitBriefly(listener, own, peer.publicKey))
      const { dial } = yield* QuicDial
      const connect = untilSuccess(dial({ ...listener.address, roots: undefined, transport }))
      const stranger = yield* connect
      const silence = Result.getOrThrow(stranger.open())
      silence.end(Buffer.alloc(200, 1))
      assert.strictEqual((yield* Effect.promise(() => buffer(silence).catch(() => Buffer.alloc(0)))).length, 0)
      yield* Effect.promise(() => stranger.closed)
      const connection = yield* connect
      const stream = yield* KeyProof.prove(Result.getOrThrow(connection.open()), peer, own.publicKey, true)
      const { socket, stream: other } = Option.getOrThrow(yield* Fiber.join(waiting))
      assert.strictEqual(DirectPath.carrierOf(socket), "direct-quic")
      const [there, back] = [randomBytes(700_000), randomBytes(300_000)]
      stream.end(there)
      other.end(back)
      const [a, b] = yield* Effect.promise(() => Promise.all([readToEnd(other), readToEnd(stream)]))
      assert.isTrue(a.equals(there) && b.equals(back))
    }).pipe(Effect.scoped, Effect.provide(quic))
  )

  it.live(
    "is taken where nothing answers by TCP, and a session that is cut there does not look like one that ended",
    () =>
      Effect.gen(function* () {
        const side = yield* processOf
        const { certificate, key } = DirectQuicListener.selfSignedCertificate(yield* Clock.currentTimeMillis)
        const met = Promise.withResolvers<QuicConnection>()
        const bound = yield* side.listen(
          { at: { address: "127.0.0.1", port: 0 }, certificate: Certificate.pem(certificate), key, transport },
          () => ({ connected: met.resolve, failed: () => undefined })
        )
        const address = { host: "127.0.0.1", port: bound.port }
        const answering = Effect.promise(async () => {
          const connection = await met.promise
          const { promise, resolve } = Promise.withResolvers<CarrierStream>()
          connection.take(resolve)
          return { connection, carrier: await promise }
        })
        const dialling = yield* Effect.forkScoped(
          DirectPath.dial(address, peer, own.publicKey, Certificate.pem(certificate))
        )
        const { carrier, connection } = yield* answering
        const stream = yield* KeyProof.prove(carrier, own, peer.publicKey, false)
        const direct = yield* Fiber.join(dialling)
        assert.strictEqual(DirectPath.carrierOf(direct.socket), "direct-quic")
        stream.write("first")
        const [chunk] = yield* Effect.promise(() => once(direct.stream, "data"))
        assert.strictEqual(String(chunk), "first")
        const rest = buffer(direct.stream).then(
          () => "ended",
          () => "cut"
        )
        connection.close()
        assert.strictEqual(yield* Effect.promise(() => rest), "cut")
        const other = Certificate.pem(
          DirectQuicListener.selfSignedCertificate(yield* Clock.currentTimeMillis).certificate
        )
        const refused = yield* Effect.flip(DirectPath.dial(address, peer, own.publicKey, other))
        assert.match(refused.message, /certificate|refused/iu)
      }).pipe(Effect.scoped, Effect.provide(quic))
  )
})

describe("direct mode", () => {
  const variables = async () => {
    const port = await Effect.runPromise(freePort("127.0.0.1"))
    const [a, b] = [secret(), secret()]
    const of = (role: string, key: Uint8Array, other: Uint8Array) => ({
      CT_CHANNEL_ROLE: role,
      CT_CHANNEL_ADDR: `127.0.0.1:${port}`,
      CT_CHANNEL_NOISE_KEY: Hex.encode(key),
      CT_CHANNEL_PEER_NOISE_KEY: Hex.encode(native.x25519.publicKey(other))
    })
    return { acceptor: of("accept", a, b), initiator: of("initiate", b, a), stranger: of("initiate", secret(), a) }
  }

  it("serves one session without an edge, and ends", async () => {
    const { acceptor, initiator, stranger } = await variables()
    await using home = await makeHome()
    await using one = runAgent(home, { ...acceptor, CT_CHANNEL_SERVE: "1" }, ["channel"])
    await one.said("waiting for the peer at")
    await using wrong = runAgent(home, { ...stranger, CT_CHANNEL_CALL: "tools/list" }, ["channel"])
    assert.strictEqual(await wrong.exited, 5)
    assert.strictEqual(wrong.stdout(), "")
    await using two = runAgent(home, { ...initiator, CT_CHANNEL_CALL: "tools/list" }, ["channel"])
    assert.strictEqual(await two.exited, 0, two.lines.join("\n"))
    assert.include(two.stdout(), "ping")
    assert.strictEqual(await one.exited, 0)
  })

  it.skipIf(noQuic)("goes by QUIC where only that comes through", async () => {
    const { acceptor, initiator } = await variables()
    await using home = await makeHome()
    await using one = runAgent(home, { ...acceptor, CT_CHANNEL_SERVE: "1" }, ["channel"])
    await one.said("waiting for the peer at")
    await using link = await UdpLink.open(Number(acceptor.CT_CHANNEL_ADDR.split(":")[1]))
    const env = { ...initiator, CT_CHANNEL_ADDR: `127.0.0.1:${link.port}`, CT_CHANNEL_CALL: "tools/list" }
    await using two = runAgent(home, env, ["channel"])
    assert.strictEqual(await two.exited, 0, two.lines.join("\n"))
    assert.include(two.stdout(), "ping")
    assert.match(two.lines.join("\n"), /open, by direct-quic/u)
    assert.strictEqual(await one.exited, 0)
  })

  it("says what to do when the peer cannot be reached", async () => {
    const { initiator } = await variables()
    await using home = await makeHome()
    await using agent = runAgent(home, initiator, ["channel"])
    assert.strictEqual(await agent.exited, 5)
    assert.include(agent.lines.at(-1), "Start the accepting member")
  })
})
