/** Waits for the first bytes of a client without reading them. */
import { Effect } from "effect"
import type { Duplex } from "node:stream"

/** True when bytes can be read, false when the client ended or broke without sending any. Nothing is consumed. */
export const awaitReadable = (stream: Duplex): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    if (stream.readableLength > 0) return resume(Effect.succeed(true))
    if (stream.readableEnded || stream.destroyed) return resume(Effect.succeed(false))
    const settle = (some: boolean) => {
      cleanup()
      resume(Effect.succeed(some))
    }
    const readable = () => {
      // At the end of a stream 'readable' comes once more, with nothing to read.
      if (stream.readableLength > 0) settle(true)
      else stream.read(0)
    }
    const none = () => settle(false)
    const cleanup = () => {
      stream.off("readable", readable)
      stream.off("end", none)
      stream.off("close", none)
      stream.off("error", none)
    }
    stream.on("readable", readable)
    stream.on("end", none)
    stream.on("close", none)
    stream.on("error", none)
    return Effect.sync(cleanup)
  })
