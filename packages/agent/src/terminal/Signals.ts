/** The two signals that ask a program to stop. The first is an event to act upon; the second ends the process at once. */
import { Effect } from "effect"

const numbers = { SIGINT: 2, SIGTERM: 15 } as const
const signals = ["SIGINT", "SIGTERM"] as const

/** Succeeds at the first SIGINT or SIGTERM. From then on the next one exits, so that a drain can be cut short. */
export const first = Effect.callback<void>((resume) => {
  const listeners = signals.map((signal) => {
    const listener = () => {
      process.off(signal, listener)
      for (const each of signals) process.on(each, () => process.exit(128 + numbers[each]))
      resume(Effect.void)
    }
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  return Effect.sync(() => {
    for (const remove of listeners) remove()
  })
})
