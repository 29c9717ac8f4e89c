/**
 * The timers of one session: they watch the peer, hold nothing open, end with the session, and contain what they throw.
 * @internal
 */
import { guarded, type OnFault } from "./FaultBoundary.ts"

/** Milliseconds that an orderly close may take: the peer may be gone, or never end its own half. */
export const closingMillis = 2_000

export class SessionTimers {
  readonly #onFault: OnFault
  #timers: Array<NodeJS.Timeout> = []

  constructor(onFault: OnFault) {
    this.#onFault = onFault
  }

  after(millis: number, act: () => void): void {
    this.#timers.push(setTimeout(guarded(this.#onFault, act), millis).unref())
  }

  every(millis: number, act: () => void): void {
    this.#timers.push(setInterval(guarded(this.#onFault, act), millis).unref())
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers = []
  }
}
