/** The two signals that ask a program to stop. The first is an event to act upon; the second ends the process at once. */
import { Clock, Effect } from "effect"
import { stage } from "../update/Stage.ts"

const numbers = { SIGINT: 2, SIGTERM: 15 } as const
const signals = ["SIGINT", "SIGTERM"] as const

/** Milliseconds. A manager of services sends a signal to a version on trial and to its parent, which passes it on. */
const same = stage === "child" ? 500 : 0

/** Succeeds at the first SIGINT or SIGTERM. From then on the next one exits, so that a drain can be cut short. */
export const first = Effect.flatMap(Clock.Clock, (clock) => from(() => clock.currentTimeMillisUnsafe()))

const from = (now: () => number) =>
  Effect.callback<void>((resume) => {
    const listeners = signals.map((signal) => {
      const listener = () => {
        process.off(signal, listener)
        const at = now()
        for (const each of signals)
          process.on(each, () => {
            if (now() - at >= same) process.exit(128 + numbers[each])
          })
        resume(Effect.void)
      }
      process.on(signal, listener)
      return () => process.off(signal, listener)
    })
    return Effect.sync(() => {
      for (const remove of listeners) remove()
    })
  })
