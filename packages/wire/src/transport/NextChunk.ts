/** What a stream says next; nothing once it has ended. The stream is paused before and after, and is only read meanwhile. */
import { Effect } from "effect"
import type { Duplex } from "node:stream"

const ends = ["end", "close", "error"] as const

export const nextChunk = (stream: Duplex): Effect.Effect<Buffer | undefined> =>
  Effect.callback<Buffer | undefined>((resume) => {
    const detach = () => {
      stream.off("data", settle)
      for (const event of ends) stream.off(event, over)
      stream.pause()
    }
    const settle = (chunk: Buffer | undefined) => {
      detach()
      resume(Effect.succeed(chunk))
    }
    const over = () => settle(undefined)
    if (stream.destroyed || stream.readableEnded) return void resume(Effect.succeed(undefined))
    stream.on("data", settle)
    for (const event of ends) stream.on(event, over)
    stream.resume()
    return Effect.sync(detach)
  })
