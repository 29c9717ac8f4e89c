/**
 * Which transports to the edge work. A transport that failed is tried after the others until it answers or some minutes have
 * passed; QUIC is probed meanwhile, less often where it does not last (agent.md 5.2). Also the backoff between registrations.
 */
import { Effect, Random } from "effect"
import type { Reconnect } from "../settings/Settings.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"

/**
 * How long to wait between attempts: not at all after a registration that held, then doubling from the base to the cap, and a
 * random half of it on top of the other half.
 */
export interface RegistrationBackoff {
  /** The next pause in milliseconds, or undefined when the attempts are used up. */
  readonly next: Effect.Effect<number | undefined>
  /**
   * A registration that held for a while was lost: the next attempt is immediate, later ones start at the base with a full
   * budget.
   */
  lost(): void
}

/** The largest pause of this attempt, counted from 0. */
export const ceiling = ({ baseMillis, maxMillis }: Reconnect, attempt: number) =>
  Math.min(maxMillis, baseMillis * 2 ** Math.min(attempt, 30))

export const makeRegistrationBackoff = (settings: Reconnect): RegistrationBackoff => {
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

const probeMillis = 30_000
const longestProbeMillis = 480_000
/** A session by QUIC that ends sooner counts against it. */
const steadyMillis = 120_000
/** In a row, before an edge that refuses TLS is tried by QUIC. */
const maxRefusals = 3

export interface CarrierHealth {
  /** The carriers in the order in which they are tried now. */
  readonly order: (wanted: ReadonlyArray<Carrier>) => ReadonlyArray<Carrier>
  readonly failed: (carriers: ReadonlyArray<Carrier>) => void
  readonly reached: (carriers: ReadonlyArray<Carrier>) => void
  /** Called when TLS was refused at once; returns whether that has happened too often for a restarting edge. */
  readonly staysRefused: () => boolean
  /** Called when a QUIC session has ended. */
  readonly quicEnded: (lastedMillis: number) => void
  /** Milliseconds until QUIC is probed, and how many answers in a row bring it back. */
  readonly probing: () => { readonly pause: number; readonly answers: number }
}

export const make = (now: () => number): CarrierHealth => {
  const restsUntil = new Map<Carrier, number>()
  let flaps = 0
  let refusals = 0
  const rests = (carrier: Carrier) => (restsUntil.get(carrier) ?? Number.NEGATIVE_INFINITY) > now()
  return {
    order: (wanted) => [...wanted.filter((one) => !rests(one)), ...wanted.filter(rests)],
    failed: (carriers) => {
      for (const carrier of carriers) restsUntil.set(carrier, now() + longestProbeMillis)
    },
    reached: (carriers) => {
      refusals = 0
      for (const carrier of carriers) restsUntil.delete(carrier)
    },
    staysRefused: () => ++refusals > maxRefusals,
    quicEnded: (lastedMillis) => {
      flaps = lastedMillis < steadyMillis ? flaps + 1 : 0
    },
    probing: () => ({
      pause: flaps === 0 && !rests("quic") ? 0 : Math.min(longestProbeMillis, probeMillis * 2 ** Math.min(flaps, 10)),
      answers: flaps === 0 ? 1 : 2
    })
  }
}
