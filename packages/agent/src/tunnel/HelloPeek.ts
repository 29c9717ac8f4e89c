/** Looks at the ClientHello with which a client begins, and loses none of its bytes. */
import { type ClientHello, ClientHelloReader } from "@catenet/wire/frames/ClientHello"
import { Effect, Option } from "effect"
import type { Duplex } from "node:stream"
import { awaitReadable } from "./AwaitReadable.ts"

/** Bounds a hello that has begun; before its first byte a client may stay silent for as long as it likes. */
const helloMillis = 10_000

export interface Peeked {
  /** Undefined when the client begins with something else, or does not get to the end of it. */
  readonly hello: ClientHello | undefined
  /** What could not be put back, because the client has ended: the next reader begins with it. Mostly nothing. */
  readonly taken: Uint8Array
}

const nothing = new Uint8Array()

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
  const hello = Option.getOrUndefined(yield* Effect.timeoutOption(whole, helloMillis))
  if (stream.destroyed) return { hello, taken: nothing }
  if (stream.readableEnded) return { hello, taken: reader.bytes }
  stream.unshift(reader.bytes)
  return { hello, taken: nothing }
})
