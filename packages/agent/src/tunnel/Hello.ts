/** Looks at the ClientHello with which a client begins, and puts every byte back. */
import { type ClientHello, ClientHelloReader } from "@catenet/wire/frames/ClientHello"
import { Effect, Option } from "effect"
import type { Duplex } from "node:stream"
import { arrive } from "./FirstBytes.ts"

/** Bounds a hello that has begun; before its first byte a client may stay silent for as long as it likes. */
const helloMillis = 10_000

/** The hello; undefined when the client begins with something else, or does not get to the end of it. */
export const peek = Effect.fnUntraced(function* (stream: Duplex): Effect.fn.Return<ClientHello | undefined> {
  if (!(yield* arrive(stream))) return undefined
  const reader = new ClientHelloReader()
  const whole = Effect.gen(function* () {
    do {
      const chunk: Buffer | null = stream.read()
      const seen = reader.push(chunk ?? Buffer.alloc(0))
      if (seen._tag !== "More") return seen._tag === "Hello" ? seen.hello : undefined
    } while (yield* arrive(stream))
    return undefined
  })
  const hello = yield* Effect.timeoutOption(whole, helloMillis)
  if (!stream.destroyed && !stream.readableEnded) stream.unshift(reader.bytes)
  return Option.getOrUndefined(hello)
})
