/** How long one request head may take from its first byte to its last. The time in which nothing is read does not count. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"

export class HeaderReadTimeout {
  readonly #millis: number
  readonly #late: () => void
  #timer: NodeJS.Timeout | undefined
  #head: number | undefined

  constructor(millis: number, onFault: OnFault, late: () => void) {
    this.#millis = millis
    this.#late = guarded(onFault, late)
  }

  /** The number of the head that is being read; nothing between heads and while the visitor is not read. */
  follow(head: number | undefined) {
    if (head === this.#head) return
    this.#head = head
    Scheduler.clearTimeout(this.#timer)
    // A bound on a raw socket. Most heads come in one piece and start none.
    this.#timer = head === undefined ? undefined : Scheduler.setTimeout(this.#late, this.#millis).unref()
  }
}
