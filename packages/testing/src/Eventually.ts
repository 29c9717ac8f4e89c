/** The ways in which tests of all packages wait for something that happens in real time, by looking again. */
import { Duration, Effect, Schedule } from "effect"

/** How soon something happens is no rule of these tests, and a busy machine needs longer. */
const longest: Duration.Input = "150 seconds"

/** Reads until the value holds, and gives that value; dies a while before the test would. */
export const until = <A, E, R>(
  read: Effect.Effect<A, E, R>,
  holds: (value: A) => boolean,
  pause: Duration.Input = "20 millis"
): Effect.Effect<A, E, R> =>
  read.pipe(
    Effect.tap((value) => (holds(value) ? Effect.void : Effect.sleep(pause))),
    Effect.repeat({ until: holds }),
    Effect.timeout(longest),
    Effect.catchTag("TimeoutError", Effect.die)
  ) as Effect.Effect<A, E, R>

/** Runs again after each failure until it succeeds; dies with the time that is over. */
export const untilSuccess = <A, E, R>(
  run: Effect.Effect<A, E, R>,
  within: Duration.Input = longest,
  pause: Duration.Input = "20 millis"
): Effect.Effect<A, never, R> => run.pipe(Effect.retry(Schedule.spaced(pause)), Effect.timeout(within), Effect.orDie)

/**
 * `until` with promises; fails after `millis`, which are no limit of their own, saying `what`. The longer it has waited, the less
 * often it looks: a look may cost a visit, and what happens after seconds is known within a twentieth of one.
 */
export const eventually = async (
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string),
  millis = Duration.toMillis(longest)
): Promise<void> => {
  const from = performance.now()
  while (!(await holds())) {
    const waited = performance.now() - from
    if (waited > millis) throw new Error(`did not happen: ${typeof what === "string" ? what : what()}`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(50, Math.max(10, waited / 10))))
  }
}
