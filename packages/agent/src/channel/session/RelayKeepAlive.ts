/**
 * The relay behind a direct session: nothing of the application goes over it, and when the edge cuts it, because a member was removed
 * or a grant was taken back, the session is over. Its bytes say that it is kept, and that the session has ended in order.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { Effect, Option } from "effect"
import type { Duplex } from "node:stream"
import { awaitReadable } from "../../tunnel/StreamHelloPeek.ts"
import type * as FallbackDialer from "./FallbackDialer.ts"
import { SessionTermination } from "./SessionLifecycle.ts"

// * What becomes of the leg of a rendezvous. Two members that are both in that phase only learn of each other: the edge closes their
// legs, and they come again to the relay. A peer in no phase has been joined with this leg at once.

/** `unsaid`: neither the edge nor time has said it, and the peer waits for this member's first word if the leg is its own. */
export type RendezvousCompletion = "closed" | "spliced" | "unsaid"

/** An edge that does not say what it does closes a leg behind the acknowledgement at once. */
const closeMillis = 1_000
/** A peer that speaks first has given up by then. */
const firstWordMillis = 10_000

/** Waits, where the edge has not said it: for the end of the leg, or for the first word of the peer. */
export const of = Effect.fn("RelayKeepAlive.of")(function* (
  {
    acknowledgement,
    isMarked,
    rung,
    stream
  }: Pick<FallbackDialer.BrokerConnection, "acknowledgement" | "isMarked" | "stream"> & {
    readonly rung?: Pick<FallbackDialer.BrokerConnection["rung"], "name">
  },
  speaksFirst: boolean
): Effect.fn.Return<RendezvousCompletion> {
  // A peer that said its phase may leave for the relay all the same, as members of other makes do.
  if (!isMarked) return speaksFirst ? "unsaid" : "spliced"
  if (acknowledgement.next !== undefined) return acknowledgement.next === "peer" ? "spliced" : "closed"
  // The broker of another edge relays nothing there, and waits until both have left.
  if (rung?.name === "quic") return "closed"
  const millis = speaksFirst ? closeMillis : firstWordMillis
  const readable = yield* Effect.timeoutOption(awaitReadable(stream), millis)
  if (Option.isNone(readable)) return speaksFirst ? "unsaid" : "closed"
  return readable.value ? "spliced" : "closed"
})

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
