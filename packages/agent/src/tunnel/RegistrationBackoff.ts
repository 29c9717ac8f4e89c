/**
 * How long to wait between attempts: not at all after a registration that held, then doubling from the base to the cap, and a
 * random half of it on top of the other half.
 */
import { Effect, Random } from "effect"
import type { Reconnect } from "../settings/Settings.ts"

export interface RegistrationBackoff {
  /** The next pause in milliseconds, or undefined when the attempts are used up. */
  readonly next: Effect.Effect<number | undefined>
  /** A registration that held for a while was lost: the next attempt is made at once, and the others begin at the base with a full budget. */
  lost(): void
}

/** The largest pause of this attempt, counted from 0. */
export const ceiling = ({ baseMillis, maxMillis }: Reconnect, attempt: number) =>
  Math.min(maxMillis, baseMillis * 2 ** Math.min(attempt, 30))

export const make = (settings: Reconnect): RegistrationBackoff => {
  let attempt = 0
  let atOnce = false
  return {
    next: Effect.suspend(() => {
      if (atOnce) {
        atOnce = false
        return Effect.succeed(0)
      }
      if (settings.maxAttempts !== undefined && attempt >= settings.maxAttempts) return Effect.undefined
      const whole = ceiling(settings, attempt++)
      return Random.nextBetween(whole / 2, whole)
    }),
    lost: () => {
      attempt = 0
      atOnce = true
    }
  }
}
