/**
 * How the edge leaves: it stops accepting, tells agents to register elsewhere, lets relays finish for the grace time, and
 * cuts what is left.
 */
import { Effect, Schedule } from "effect"
import { ChannelRoom } from "../channels/ChannelRoom.ts"
import { HomeEdges } from "../channels/HomeEdges.ts"
import { ByteAgents } from "../frontdoor/ByteAgents.ts"
import { GelbVisits } from "../gelb/GelbVisits.ts"
import type { Listener } from "../listen/Listener.ts"
import { Relays } from "../relay/Relays.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { Settings } from "../settings/Settings.ts"

export const drain = Effect.fn("Drain.drain")(function* (listeners: ReadonlyArray<Listener>) {
  const { shutdownGraceSeconds } = yield* Settings
  const relays = yield* Relays
  const muxAgents = yield* MuxAgents
  const byteAgents = yield* ByteAgents
  const gelb = yield* GelbVisits
  const homes = yield* HomeEdges
  const room = yield* ChannelRoom
  yield* Effect.forEach(listeners, ({ stop }) => stop)
  muxAgents.goAway("this edge is stopping")
  byteAgents.closeParked()
  homes.drain()
  room.sendAway(() => true)
  gelb.drain()
  yield* Effect.logInfo("draining").pipe(
    Effect.annotateLogs({ relays: relays.active() + relays.passing(), grace: shutdownGraceSeconds })
  )
  yield* Effect.sync(() => relays.active() + relays.passing() > 0).pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), while: (busy) => busy }),
    Effect.timeoutOrElse({ duration: shutdownGraceSeconds * 1_000, orElse: () => Effect.void })
  )
  relays.cutAll("draining")
  muxAgents.closeAll()
  yield* Effect.logInfo("drained")
})
