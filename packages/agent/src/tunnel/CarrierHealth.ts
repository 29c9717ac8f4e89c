/**
 * What one agent has learnt of the carriers to its edge. One that could not be reached rests: it is tried again after the others, until
 * it answers or some minutes have passed. QUIC is probed meanwhile, ever more rarely where it does not last (agent.md 5.2). Pure.
 */
import type { Carrier } from "../settings/TunnelTransports.ts"

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
  /** TLS was refused at once; whether that has happened too often for an edge that is being started again. */
  readonly staysRefused: () => boolean
  /** A session by QUIC is over. */
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
