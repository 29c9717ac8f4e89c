/** The streams being served: each in a fiber of its own, all of them known, so that a stopping agent can let them finish. */
import { Cause, Effect, FiberSet } from "effect"
import { AgentMetrics } from "../observe/AgentMetrics.ts"

export interface ActiveStreams {
  /** Serves in the background. A defect is reported; ending the stream is up to what is run. */
  run(serving: Effect.Effect<void>): void
  /** Waits until nothing is being served. */
  readonly idle: Effect.Effect<void>
}

/** Closing the scope ends every stream that is still being served. */
export const make = Effect.gen(function* () {
  const metrics = yield* AgentMetrics
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<never>()
  return {
    run: (serving) => {
      metrics.taskBegan()
      const reported = Effect.catchCause(serving, (cause) =>
        Effect.sync(() => {
          if (!Cause.hasInterruptsOnly(cause)) metrics.fault(Cause.squash(cause))
        })
      )
      run(Effect.ensuring(reported, Effect.sync(metrics.taskEnded)))
    },
    idle: FiberSet.awaitEmpty(fibers)
  } satisfies ActiveStreams
})
