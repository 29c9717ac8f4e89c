/**
 * What arrived on a session and is not acknowledged yet; one step for all that a turn of the event loop brings.
 * @internal
 */
import { guarded, type OnFault } from "./FaultBoundary.ts"

/** Received bytes are acknowledged in steps of at least this many. */
const stepBytes = 16 * 1024

export class Acknowledgements {
  readonly #send: (bytes: number) => void
  readonly #onFault: OnFault
  #unacked = 0
  #acking = false

  constructor(send: (bytes: number) => void, onFault: OnFault) {
    this.#send = send
    this.#onFault = onFault
  }

  received(bytes: number): void {
    this.#unacked += bytes
  }

  /** To be called after each piece that the socket brought. */
  settle(): void {
    if (this.#unacked < stepBytes || this.#acking) return
    this.#acking = true
    // After everything that this turn of the event loop finds in the socket: one acknowledgement for all of it.
    setImmediate(guarded(this.#onFault, () => this.#acknowledge()))
  }

  #acknowledge(): void {
    this.#acking = false
    this.#send(this.#unacked)
    this.#unacked = 0
  }
}
