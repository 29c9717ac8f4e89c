/** A peer that is slow or silent: each bound of a member on it, a moment before and at it, with a clock that is the test's. */
import { native } from "@catenet/crypto/native"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { duplexPair } from "node:stream"
import { setImmediate } from "node:timers/promises"
import * as RpcServer from "../../src/channel/rpc/RpcServer.ts"
import * as DirectPath from "../../src/channel/session/DirectPath.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"

const layer = Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)
const keys = () => native.x25519.keyPair(new Uint8Array(randomBytes(32)))
const [own, peer] = [keys(), keys()]

const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 8; turn++) await setImmediate()
})

/** Waits until `begun`, and holds that the effect ends so many milliseconds later, and not before. */
const endsAfter = <A, E, R>(millis: number, effect: Effect.Effect<A, E, R>, begun: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* begun
    yield* turns
    yield* TestClock.adjust(millis - 1)
    yield* turns
    assert.isUndefined(fiber.pollUnsafe(), `before ${millis} ms`)
    yield* TestClock.adjust(1)
    yield* turns
    const exit = fiber.pollUnsafe()
    return exit !== undefined && Exit.isSuccess(exit)
      ? exit.value
      : assert.fail(`not after ${millis} ms: ${String(exit)}`)
  })

describe("a member waits", () => {
  it.effect("8 s for a peer at its listener, whatever strangers do there", () =>
    Effect.gen(function* () {
      const listener = yield* DirectPath.listen({ host: "127.0.0.1", port: 0 })
      const begun = Effect.promise(async () => {
        const stranger = connect(listener.address.port).on("error", () => {})
        await once(stranger, "connect")
        stranger.write("x")
      })
      const waiting = DirectPath.awaitBriefly(listener, own, peer.publicKey)
      assert.isTrue(Option.isNone(yield* endsAfter(8_000, waiting, begun)))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("5 s for a peer that takes its connection and says nothing", () =>
    Effect.gen(function* () {
      const server = createServer((socket) => void socket.on("error", () => {}).resume())
      yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
      yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
      const address = { host: "127.0.0.1", port: (server.address() as AddressInfo).port }
      const begun = Effect.promise(() => once(server, "connection"))
      const dialling = DirectPath.dialBriefly(address, own, peer.publicKey)
      assert.isTrue(Option.isNone(yield* endsAfter(5_000, dialling, begun)))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("300 s for the next request of a session, from its beginning and from each answer", () =>
    Effect.gen(function* () {
      const caller = { noiseKey: peer.publicKey, rights: "rw" as const }
      const [ours, theirs] = duplexPair()
      const answered = once(theirs, "data")
      const request = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }))
      const begun = Effect.gen(function* () {
        yield* turns
        yield* TestClock.adjust(299_999)
        theirs.write(Buffer.concat([Buffer.of(request.length >> 8, request.length & 0xff), request]))
        yield* Effect.promise(() => answered)
      })
      yield* endsAfter(300_000, RpcServer.serve(ours, { tools: () => [], caller }), begun)
    }).pipe(Effect.provide(layer))
  )
})
