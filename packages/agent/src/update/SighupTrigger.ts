/** A person or a manager of services asks a serving agent by SIGHUP to look for an update now. */
import { Effect, Queue } from "effect"

/**
 * Listens until the scope ends, and gives what waits for the next SIGHUP. Without a listener the signal would end the process, so
 * it stands from before the agent is registered until nothing is served any more. One that comes while nothing waits is kept, and
 * several of them count as one.
 */
export const make = Effect.gen(function* () {
  const asked = yield* Queue.sliding<void>(1)
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const listener = () => void Queue.offerUnsafe(asked, undefined)
      process.on("SIGHUP", listener)
      return listener
    }),
    (listener) => Effect.sync(() => process.off("SIGHUP", listener))
  )
  return Queue.take(asked)
})
