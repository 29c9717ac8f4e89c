/**
 * The relay behind a direct session: it carries no application data, and when the edge cuts it, because a member or grant was
 * removed, the session ends. Its messages say that it is kept, and that the session ended normally.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { Effect, Option } from "effect"
import type { Duplex } from "node:stream"
import { awaitReadable } from "../../tunnel/StreamHelloPeek.ts"
import { SessionTermination } from "./ChannelFailure.ts"
import type * as FallbackDialer from "./FallbackDialer.ts"

// After a rendezvous, which only exchanges addresses, the edge closes both connections, and the members rejoin at the relay. A
// peer that sent no phase is connected with this member at once.

/** `unsaid`: neither the edge nor the time has decided it, and the peer may wait for this member's first message. */
export type RendezvousCompletion = "closed" | "spliced" | "unsaid"

/** An edge that sends no phase closes a connection right after the acknowledgement. */
const closeMillis = 1_000
/** By then a peer that speaks first has given up. */
const firstWordMillis = 10_000

/** If the edge did not say, waits for the end of the connection or the peer's first message. */
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
  // A peer that sent its phase may still leave for the relay, as other implementations do.
  if (!isMarked) return speaksFirst ? "unsaid" : "spliced"
  if (acknowledgement.next !== undefined) return acknowledgement.next === "peer" ? "spliced" : "closed"
  // Another implementation's broker relays nothing here, and waits until both have left.
  if (rung?.name === "quic") return "closed"
  const millis = speaksFirst ? closeMillis : firstWordMillis
  const readable = yield* Effect.timeoutOption(awaitReadable(stream), millis)
  if (Option.isNone(readable)) return speaksFirst ? "unsaid" : "closed"
  return readable.value ? "spliced" : "closed"
})

const kept = 0
const farewell = 1
/** Relays end silent connections. */
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

/** While the session is in use; fails when the relay is cut. `hasEnded` says whether both sides have ended normally. */
export const hold = (relay: Duplex, hasEnded: () => boolean): Effect.Effect<never, SessionTermination> =>
  Effect.raceFirst(cutOf(relay), keep(relay)).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        if (hasEnded()) relay.end(Buffer.of(farewell)).resume()
        else abort(relay)
      })
    )
  )
