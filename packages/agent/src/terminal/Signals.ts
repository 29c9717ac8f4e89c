/**
 * The signals that stop a program. The first is an event; a second SIGINT or SIGTERM ends the process at once. A closing terminal
 * may send SIGHUP repeatedly, so a second one is ignored.
 */
import { Clock, Effect } from "effect"
import { role } from "../update/TrialRole.ts"

const numbers = { SIGINT: 2, SIGTERM: 15 } as const
const impatient = ["SIGINT", "SIGTERM"] as const
type Signal = (typeof impatient)[number] | "SIGHUP"

/** Milliseconds. A manager of services sends a signal to a version on trial and to its parent, which passes it on. */
const same = role === "child" ? 500 : 0

const firstOf = (signals: ReadonlyArray<Signal>) =>
  Effect.flatMap(Clock.Clock, (clock) => from(signals, () => clock.currentTimeMillisUnsafe()))

const from = (signals: ReadonlyArray<Signal>, now: () => number) =>
  Effect.callback<void>((resume) => {
    const listeners = signals.map((signal) => {
      const listener = () => {
        if (signal !== "SIGHUP") process.off(signal, listener)
        const at = now()
        for (const each of impatient)
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

/** Succeeds at the first SIGINT, SIGTERM or SIGHUP. After that the next one exits, so that a drain can be cut short. */
export const first = firstOf([...impatient, "SIGHUP"])

/** The same for a program to which SIGHUP may mean something else. */
export const firstWithoutHangUp = firstOf(impatient)
