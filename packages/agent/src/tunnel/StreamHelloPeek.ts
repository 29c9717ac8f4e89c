/** Looks at the ClientHello with which a client begins, and loses none of its bytes. */
import { type ClientHello, ClientHelloReader } from "@catenet/wire/frames/ClientHello"
import { Clock, Effect, Option } from "effect"
import type { Duplex } from "node:stream"
import { awaitReadable } from "./AwaitReadable.ts"

/** Bounds a handshake that has begun; before its first byte a client may stay silent for as long as it likes. */
export const handshakeMillis = 10_000

export interface Peeked {
  /** Undefined when the client begins with something else, or does not get to the end of it. */
  readonly hello: ClientHello | undefined
  /** What could not be put back, because the client has ended: the next reader begins with it. Mostly nothing. */
  readonly taken: Uint8Array
}

const nothing = new Uint8Array()

const begun = new WeakMap<Duplex, number>()

/**
 * What is left of the time for a client's hello and handshake. All who look at the hello, and the handshake behind it, share one
 * bound, from the first of them on.
 */
export const handshakeLeft = (stream: Duplex): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const since = begun.get(stream) ?? now
    begun.set(stream, since)
    return Math.max(0, since + handshakeMillis - now)
  })

/** Reads the hello and puts its bytes back. */
export const peek = Effect.fnUntraced(function* (stream: Duplex): Effect.fn.Return<Peeked> {
  if (!(yield* awaitReadable(stream))) return { hello: undefined, taken: nothing }
  const reader = new ClientHelloReader()
  const whole = Effect.gen(function* () {
    do {
      const chunk: Buffer | null = stream.read()
      const seen = reader.push(chunk ?? Buffer.alloc(0))
      if (seen._tag !== "More") return seen._tag === "Hello" ? seen.hello : undefined
    } while (yield* awaitReadable(stream))
    return undefined
  })
  const hello = Option.getOrUndefined(yield* Effect.timeoutOption(whole, yield* handshakeLeft(stream)))
  if (stream.destroyed) return { hello, taken: nothing }
  if (stream.readableEnded) return { hello, taken: reader.bytes }
  stream.unshift(reader.bytes)
  return { hello, taken: nothing }
})
