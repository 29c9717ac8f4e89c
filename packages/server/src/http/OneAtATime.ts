/**
 * One costly request of an account at a time, in each process. Those that come meanwhile wait, for an editor that is open twice
 * and a program that asks for two topologies are no abuse; as their bodies are not read yet, a waiting one costs a connection.
 * More than a few are refused. Between two, other work of the process has its turn.
 */
import { Caller, OneAtATime, quotaSubject } from "@catenet/domain/api/Access"
import { RateLimited } from "@catenet/domain/values/RequestErrors"
import { Effect, Layer, Semaphore } from "effect"
import { setRetryAfter } from "./Limits.ts"

/** Requests of one account that wait. */
const maxWaiting = 8

interface Turn {
  readonly semaphore: Semaphore.Semaphore
  requests: number
}

export const layer = Layer.effect(
  OneAtATime,
  Effect.sync(() => {
    const turns = new Map<string, Turn>()
    const taken = (subject: string) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const turn = turns.get(subject) ?? { semaphore: Semaphore.makeUnsafe(1), requests: 0 }
          if (turn.requests > maxWaiting) return new RateLimited({ retry_after: 1 })
          turn.requests += 1
          turns.set(subject, turn)
          return Effect.succeed(turn)
        }),
        (turn) =>
          Effect.sync(() => {
            turn.requests -= 1
            if (turn.requests === 0) turns.delete(subject)
          })
      )
    return OneAtATime.of((httpEffect) =>
      Effect.gen(function* () {
        const subject = quotaSubject(yield* Caller)
        const { semaphore } = yield* Effect.tapErrorTag(taken(subject), "RateLimited", setRetryAfter)
        return yield* semaphore.withPermits(1)(httpEffect)
      }).pipe(Effect.scoped)
    )
  })
)
