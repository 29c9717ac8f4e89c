/** Reads a value in the background: no caller waits for a slow source, and a late answer serves the next caller. */
import { Clock, Effect, Fiber, Option } from "effect"

/** How long an answer is waited for. */
const patience = "200 millis"
/** How long an answer counts when no newer one comes. */
const worthMillis = 10_000

/** Asks for at most two seconds, of which the caller spends the first fifth of one. */
export const staleWhileRevalidate = Effect.fnUntraced(function* <A, E>(question: Effect.Effect<A, E>) {
  const scope = yield* Effect.scope
  let last: { readonly answer: A; readonly at: number } | undefined
  let asking: Fiber.Fiber<unknown, unknown> | undefined
  const ask = question.pipe(
    Effect.timeout("2 seconds"),
    Effect.flatMap((answer) => Effect.map(Clock.currentTimeMillis, (at) => (last = { answer, at })))
  )
  return Effect.gen(function* () {
    if (asking === undefined || asking.pollUnsafe() !== undefined) asking = yield* Effect.forkIn(ask, scope)
    const asked = yield* Effect.timeoutOption(Fiber.await(asking), patience)
    const now = yield* Clock.currentTimeMillis
    // An edge that has answered, but with something else, is not represented by what it said before.
    const failed = Option.isSome(asked) && asked.value._tag === "Failure"
    if (last === undefined || failed) return Option.none<A>()
    // An answer from the future was given before the wall clock was set back, and its age is unknown.
    const age = now - last.at
    return age < 0 || age >= worthMillis ? Option.none<A>() : Option.some(last.answer)
  })
})
