/**
 * The relay behind a direct session: nothing of the application goes over it, and when the edge cuts it, because a member was removed
 * or a grant was taken back, the session is over. Its bytes say that it is kept, and that the session has ended in order.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import { SessionTermination } from "./SessionTermination.ts"

const kept = 0
const farewell = 1
/** A relay ends what is silent. */
const keepEvery = "60 seconds"

const cutOf = (relay: Duplex) =>
  Effect.callback<never, SessionTermination>((resume) => {
    let isOver = false
    const data = (chunk: Uint8Array) => {
      if (chunk.includes(farewell)) isOver = true
      else if (!chunk.every((byte) => byte === kept))
        resume(Effect.fail(new SessionTermination({ why: "the peer takes the relay for its session" })))
    }
    const ended = () => {
      if (!isOver) resume(Effect.fail(new SessionTermination({ why: "the edge has ended it" })))
    }
    relay.on("data", data)
    for (const event of ["end", "close"]) relay.once(event, ended)
    if (relay.destroyed || relay.readableEnded) ended()
    relay.resume()
    return Effect.sync(() => {
      relay.off("data", data)
      for (const event of ["end", "close"]) relay.off(event, ended)
    })
  })

const keep = (relay: Duplex) =>
  Effect.forever(
    Effect.delay(
      Effect.sync(() => void relay.write(Buffer.of(kept))),
      keepEvery
    )
  )

/** For as long as the session is used; fails when the relay is cut. `hasEnded` says whether both have ended in order. */
export const hold = (relay: Duplex, hasEnded: () => boolean): Effect.Effect<never, SessionTermination> =>
  Effect.raceFirst(cutOf(relay), keep(relay)).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        if (hasEnded()) relay.end(Buffer.of(farewell)).resume()
        else abort(relay)
      })
    )
  )
