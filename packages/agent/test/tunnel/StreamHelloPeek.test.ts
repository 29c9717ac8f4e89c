import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { duplexPair } from "node:stream"
import { handshakeLeft, handshakeMillis, peek } from "../../src/tunnel/StreamHelloPeek.ts"

const beginning = Buffer.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01)

/** A stream whose client has sent the beginning of a hello. */
const begun = Effect.promise(async () => {
  const [client, stream] = duplexPair()
  client.write(beginning)
  await new Promise(setImmediate)
  return { client, stream }
})

const turns = Effect.promise(() => new Promise(setImmediate))

describe("the time for a client's hello and handshake", () => {
  it.effect("is 10 s from the first look on, whoever looks again", () =>
    Effect.gen(function* () {
      const { stream } = yield* begun
      assert.strictEqual(yield* handshakeLeft(stream), handshakeMillis)
      yield* TestClock.adjust(6_000)
      assert.strictEqual(yield* handshakeLeft(stream), 4_000)
      yield* TestClock.adjust(9_000)
      assert.strictEqual(yield* handshakeLeft(stream), 0)
      const other = yield* begun
      assert.strictEqual(yield* handshakeLeft(other.stream), handshakeMillis, "another stream has its own")
    })
  )

  it.effect("bounds a hello that does not end, with what was left, and puts its bytes back", () =>
    Effect.gen(function* () {
      const { client, stream } = yield* begun
      yield* handshakeLeft(stream)
      yield* TestClock.adjust(6_000)
      const peeking = yield* Effect.forkChild(peek(stream))
      yield* turns
      yield* TestClock.adjust(3_999)
      client.write(Buffer.of(0))
      yield* turns
      assert.isUndefined(peeking.pollUnsafe(), "a byte now and then buys no time")
      yield* TestClock.adjust(1)
      const { hello, taken } = yield* Fiber.join(peeking)
      assert.isUndefined(hello)
      assert.lengthOf(taken, 0)
      assert.deepStrictEqual(stream.read(), Buffer.concat([beginning, Buffer.of(0)]))
    })
  )

  it.effect("does not run while a client is silent", () =>
    Effect.gen(function* () {
      const [client, stream] = duplexPair()
      const peeking = yield* Effect.forkChild(peek(stream))
      yield* TestClock.adjust(60_000)
      client.write(beginning)
      yield* turns
      yield* turns
      yield* TestClock.adjust(handshakeMillis - 1)
      assert.isUndefined(peeking.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.isUndefined((yield* Fiber.join(peeking)).hello)
    })
  )
})
