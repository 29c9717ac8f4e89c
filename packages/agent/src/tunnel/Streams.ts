/** The streams being served: each in a fiber of its own, all of them known, so that a stopping agent can let them finish. */
import { Cause, Effect, FiberSet } from "effect"
import { Vitals } from "../observe/Vitals.ts"

export interface Streams {
  /** Serves in the background. A defect is reported; ending the stream is up to what is run. */
  run(serving: Effect.Effect<void>): void
  /** Waits until nothing is being served. */
  readonly idle: Effect.Effect<void>
}

/** Closing the scope ends every stream that is still being served. */
export const make = Effect.gen(function* () {
  const vitals = yield* Vitals
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<never>()
  return {
    run: (serving) => {
      vitals.taskBegan()
      const reported = Effect.catchCause(serving, (cause) =>
        Effect.sync(() => {
          if (!Cause.hasInterruptsOnly(cause)) vitals.fault(Cause.squash(cause))
        })
      )
      run(Effect.ensuring(reported, Effect.sync(vitals.taskEnded)))
    },
    idle: FiberSet.awaitEmpty(fibers)
  } satisfies Streams
})
