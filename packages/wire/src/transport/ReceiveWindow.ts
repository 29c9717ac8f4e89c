/**
 * How many bytes one stream's peer may still send, and when it gets credit for more. The window starts small,
 * doubles while the reader keeps up, and halves while the session as a whole holds more unread bytes than it should.
 * @internal
 */

const smallestWindow = 64 * 1024

export class ReceiveWindow {
  #size: number
  readonly #largest: number
  #credit: number

  constructor(initial: number, largest: number) {
    this.#size = initial
    this.#largest = Math.max(initial, largest)
    this.#credit = initial
  }

  /** Counts received bytes; `false` when the peer sent more than it was allowed. */
  receive(bytes: number): boolean {
    this.#credit -= bytes
    return this.#credit >= 0
  }

  /** Credit to give now, or zero: little and often would cost a frame for every chunk. */
  grant(unread: number, overBudget: boolean): number {
    if (this.#size - this.#credit - unread < this.#size / 2) return 0
    this.#size = overBudget
      ? Math.max(Math.min(smallestWindow, this.#size), this.#size / 2)
      : Math.min(this.#largest, this.#size * 2)
    const credit = Math.floor(this.#size - this.#credit - unread)
    if (credit < this.#size / 4) return 0
    this.#credit += credit
    return credit
  }
}
