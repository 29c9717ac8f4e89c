/**
 * Outstanding pings of one session: which nonce was sent when, and the promise of its round trip.
 * @internal
 */
import { monotonicMillis } from "./MonotonicClock.ts"

interface Outstanding {
  readonly sentAt: number
  readonly answer: (rttMillis: number | undefined) => void
}

export class Pings {
  readonly #outstanding = new Map<bigint, Outstanding>()
  #next = 1n

  /** A nonce to send, and the round trip it will have taken; `undefined` when it was never answered. */
  start(): { readonly nonce: bigint; readonly rtt: Promise<number | undefined> } {
    const nonce = this.#next++
    const rtt = new Promise<number | undefined>((answer) => {
      this.#outstanding.set(nonce, { sentAt: monotonicMillis(), answer })
    })
    return { nonce, rtt }
  }

  /** The round trip of an answer; `undefined` for one that answers no ping. */
  answered(nonce: bigint): number | undefined {
    const ping = this.#outstanding.get(nonce)
    if (ping === undefined) return undefined
    this.#outstanding.delete(nonce)
    const rtt = monotonicMillis() - ping.sentAt
    ping.answer(rtt)
    return rtt
  }

  /** How long the oldest one waits. */
  get oldestMillis(): number {
    for (const { sentAt } of this.#outstanding.values()) return monotonicMillis() - sentAt
    return 0
  }

  abandon(): void {
    for (const { answer } of this.#outstanding.values()) answer(undefined)
    this.#outstanding.clear()
  }
}
