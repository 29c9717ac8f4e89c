/**
 * Shutdown of the edge. It stops accepting and tells visitors that their connections end; requests are still answered for a
 * moment, so that busy visitors do not run into a closed connection. Then it sends agents away, lets relays finish within the
 * grace period, and cuts the rest.
 */
import { Effect, Schedule } from "effect"
import { ChannelPlacement } from "../channels/ChannelPlacement.ts"
import { ChannelRoom } from "../channels/ChannelRoom.ts"
import { SlotProtocol } from "../frontdoor/SlotProtocol.ts"
import type { TcpListener } from "../listen/TcpListener.ts"
import { Relays } from "../relay/Relays.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { Settings } from "../settings/Settings.ts"
import { TerminatedConnections } from "../terminate/TerminatedConnections.ts"

/** Time in which every active visitor is told that its connection ends. */
const lastMoment = (graceSeconds: number) => Math.min(1_000, graceSeconds * 100)

const whileTrue = (holds: () => boolean, millis: number) =>
  Effect.sync(holds).pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), while: (still) => still }),
    Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.void })
  )

export const drain = Effect.fn("Drain.drain")(function* (listeners: ReadonlyArray<TcpListener>) {
  const { shutdownGraceSeconds } = yield* Settings
  const relays = yield* Relays
  const muxAgents = yield* MuxAgents
  const slotProtocol = yield* SlotProtocol
  const gelb = yield* TerminatedConnections
  const homes = yield* ChannelPlacement
  const room = yield* ChannelRoom
  yield* Effect.forEach(listeners, ({ stop }) => stop)
  homes.drain()
  room.sendAway(() => true)
  gelb.announce()
  yield* whileTrue(() => gelb.open() > 0, lastMoment(shutdownGraceSeconds))
  muxAgents.goAway("this edge is stopping")
  slotProtocol.closeParked()
  yield* Effect.logInfo("draining").pipe(
    Effect.annotateLogs({ relays: relays.active() + relays.passing(), grace: shutdownGraceSeconds })
  )
  const isBusy = () => {
    gelb.drain()
    return relays.active() + relays.passing() + gelb.open() > 0
  }
  yield* whileTrue(isBusy, shutdownGraceSeconds * 1_000)
  relays.cutAll("draining")
  muxAgents.closeAll()
  yield* Effect.logInfo("drained")
})
