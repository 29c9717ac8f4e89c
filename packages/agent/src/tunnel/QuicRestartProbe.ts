/**
 * An edge whose QUIC process was killed sends nothing any more, which a connection is given up for after ten seconds. So the edge is
 * asked, often while clients come by QUIC and now and then while none do, and while it leaves a question unanswered the agent
 * registers anew beside the old link. On a link that is slow and not dead the answer comes first, as it was asked for first.
 */
import { Effect, Exit, Fiber, Schedule } from "effect"
import type { EdgeLink } from "./EdgeLink.ts"

const askMillis = 500
/** An idle link is asked once in so many turns. */
const idleTurns = 10
/** An answer on a good link takes a hundredth of it. */
const patienceMillis = 700
const againMillis = 300

/** What `register` has made once it was needed. Runs until interrupted otherwise. */
export const run = Effect.fn("QuicRestartProbe.run")(function* <A, E, R>(
  { answered, isUsed }: NonNullable<EdgeLink["inquiry"]>,
  register: Effect.Effect<A, E, R>
) {
  for (let quiet = 1; ; quiet++) {
    yield* Effect.sleep(askMillis)
    if (!isUsed() && quiet < idleTurns) continue
    quiet = 0
    const anew = yield* Effect.forkChild(
      Effect.andThen(Effect.sleep(patienceMillis), Effect.retry(register, Schedule.spaced(againMillis)))
    )
    yield* Effect.raceFirst(answered, Effect.asVoid(Fiber.await(anew)))
    yield* Fiber.interrupt(anew)
    // What was made in the moment of the answer is used too.
    const made = yield* Fiber.await(anew)
    if (Exit.isSuccess(made)) return made.value
  }
})
