/**
 * What becomes of the leg of a rendezvous. Two members that are both in that phase only learn of each other: the edge closes their
 * legs, and they come again to the relay. A peer in no phase has been joined with this leg at once.
 */
import { Effect, Option } from "effect"
import { awaitReadable } from "../../tunnel/AwaitReadable.ts"
import type * as FallbackDialer from "./FallbackDialer.ts"

/** `unsaid`: neither the edge nor time has said it, and the peer waits for this member's first word if the leg is its own. */
export type RendezvousCompletion = "closed" | "spliced" | "unsaid"

/** An edge that does not say what it does closes a leg behind the acknowledgement at once. */
const closeMillis = 1_000
/** A peer that speaks first has given up by then. */
const firstWordMillis = 10_000

/** Waits, where the edge has not said it: for the end of the leg, or for the first word of the peer. */
export const of = Effect.fn("RendezvousCompletion.of")(function* (
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
