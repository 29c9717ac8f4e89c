/**
 * Batches look-ups that arrive in one turn of the event loop into one statement. Each caller gets its own result, or
 * the failure of the statement; an interrupted caller does not affect the others.
 */
import { Effect } from "effect"

interface Asked<Key, A, E> {
  readonly key: Key
  readonly resume: (answer: Effect.Effect<A, E>) => void
}

/** So many do not wait for more: the database shall be at work while we are. */
export const enough = 16

/** Looks up one of many; `read` is given keys and gives what is known of each. */
export const batched = <Key, A, E>(read: (keys: ReadonlyArray<Key>) => Effect.Effect<(key: Key) => A, E>) =>
  Effect.map(Effect.context<never>(), (context) => {
    const run = Effect.runForkWith(context)
    let waiting: Array<Asked<Key, A, E>> = []

    const answered = Effect.suspend(() => {
      const asked = waiting
      waiting = []
      if (asked.length === 0) return Effect.void
      return Effect.matchCause(read(asked.map(({ key }) => key)), {
        onSuccess: (answerTo) => {
          for (const { key, resume } of asked) resume(Effect.sync(() => answerTo(key)))
        },
        onFailure: (cause) => {
          for (const { resume } of asked) resume(Effect.failCause(cause))
        }
      })
    })
    /** After everything that has arrived has been looked at. */
    const afterTurn = Effect.andThen(Effect.yieldNow, answered)

    return (key: Key) =>
      Effect.callback<A, E>((resume) => {
        waiting.push({ key, resume })
        if (waiting.length === 1) run(afterTurn)
        else if (waiting.length === enough) run(answered)
      })
  })
