/** Serves peers one after another, several at a time. A permit is taken before a peer is admitted and held for its session. */
import { Clock, Effect, Semaphore } from "effect"
import type { Scope } from "effect"
import { refusalHint } from "../session/FallbackDialer.ts"
import type * as FallbackDialer from "../session/FallbackDialer.ts"
import { flapMillis, type Outcome, RejoinBackoff } from "./RejoinBackoff.ts"

interface Failure {
  readonly _tag: string
  readonly message: string
}

/** A failed admission's outcome and message. */
const admissionFailed = (
  error: Failure | FallbackDialer.AllStrategiesFailed
): { readonly outcome: Outcome; readonly message: string } => {
  if (!("attempts" in error)) return { outcome: "failed", message: error.message }
  const { attempts, message, refusal } = error
  if (refusal?.token === "unavailable") return { outcome: "failed", message: message }
  if (refusal !== undefined) return { outcome: "refused", message: `${refusalHint(refusal.token)} ${message}` }
  const isTorn = attempts.some(({ error }) => error._tag === "DialFailed" && error.isTorn === true)
  return { outcome: isTorn ? "torn" : "failed", message: message }
}

/** Runs until interrupted. `admit` waits for a peer, `serve` is one session from the handshake on. */
export const run = Effect.fn("ServeLoop.run")(function* <A, E1 extends Failure, R1, E2 extends Failure, R2>(
  concurrency: number,
  admit: Effect.Effect<A, E1, R1>,
  serve: (admitted: A) => Effect.Effect<void, E2, R2>,
  backoff = new RejoinBackoff()
): Effect.fn.Return<never, never, R1 | R2 | Scope.Scope> {
  const permits = yield* Semaphore.make(concurrency)
  /** Pause that immediately failing sessions impose on the next admission. */
  let pause = 0

  const session = Effect.fnUntraced(function* (admitted: A) {
    const before = yield* Clock.currentTimeMillis
    const failure = yield* serve(admitted).pipe(
      Effect.as(undefined),
      Effect.catch((error) => Effect.succeed(error.message))
    )
    const lasted = (yield* Clock.currentTimeMillis) - before
    const isFlap = failure !== undefined && lasted < flapMillis
    if (failure !== undefined) yield* Effect.logWarning(failure)
    pause = backoff.after(isFlap ? "flapped" : "served")
  })

  while (true) {
    yield* permits.take(1)
    if (pause > 0) yield* Effect.sleep(pause)
    pause = 0
    const admitted = yield* Effect.result(admit)
    if (admitted._tag === "Failure") {
      yield* permits.release(1)
      const { outcome, message } = admissionFailed(admitted.failure)
      yield* Effect.logWarning(message)
      yield* Effect.sleep(backoff.after(outcome))
      continue
    }
    yield* Effect.forkScoped(Effect.ensuring(session(admitted.success), permits.release(1)))
  }
})
