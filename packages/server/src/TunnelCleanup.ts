/** Forgets what is over: old deliveries, ended share links, visitors' sessions, requests to be let in that have waited too long. Doing it twice does no harm. */
import { Effect, Layer, Schedule } from "effect"
import { Deliveries } from "./tunnels/alerts/AlertDeliveries.ts"
import { Gate } from "./gate/Gate.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"

const work = Effect.gen(function* () {
  const sweeps = [yield* Deliveries, yield* Gate, yield* GateSessions, yield* ShareLinks].map(({ sweep }) => sweep)
  yield* Effect.forEach(sweeps, (sweep) =>
    Effect.catchCause(sweep, (cause) => Effect.logWarning("A sweep failed and is done again in a minute.", cause))
  ).pipe(Effect.repeat(Schedule.spaced("1 minute")))
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work))
