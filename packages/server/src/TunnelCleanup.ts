/** Forgets what is over: old deliveries, ended share links, visitors' sessions, requests to be let in that have waited too long. Doing it twice does no harm. */
import { Effect, Layer, Schedule } from "effect"
import { Deliveries } from "./tunnels/alerts/AlertDeliveries.ts"
import { Gate } from "./gate/Gate.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"

const work = Effect.gen(function* () {
  const tasks = [(yield* Deliveries).prune, (yield* Gate).sweep, (yield* GateSessions).prune, (yield* ShareLinks).prune]
  yield* Effect.forEach(tasks, (task) =>
    Effect.catchCause(task, (cause) => Effect.logWarning("A cleanup failed and is done again in a minute.", cause))
  ).pipe(Effect.repeat(Schedule.spaced("1 minute")))
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work))
