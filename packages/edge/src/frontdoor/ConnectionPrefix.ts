/** Whether a connection begins with a text. Nothing of it is consumed; who is silent for too long begins with nothing. */
import { Effect } from "effect"
import type { Duplex } from "node:stream"

const silence = "5 seconds"

/** The stream is paused before and after. */
export const beginsWith = (stream: Duplex, text: string): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    let seen: Buffer = Buffer.alloc(0)
    const detach = () => {
      stream.off("data", look).off("close", over)
      stream.pause()
      if (seen.length > 0 && !stream.destroyed) stream.unshift(seen)
    }
    const settle = (found: boolean) => {
      detach()
      resume(Effect.succeed(found))
    }
    const over = () => settle(false)
    const look = (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk])
      const prefix = seen.subarray(0, text.length).toString("latin1")
      if (!text.startsWith(prefix)) settle(false)
      else if (prefix.length === text.length) settle(true)
    }
    stream.on("data", look).on("close", over)
    stream.resume()
    return Effect.sync(detach)
  }).pipe(Effect.timeoutOrElse({ duration: silence, orElse: () => Effect.succeed(false) }))
