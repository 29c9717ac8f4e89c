/** How often a visitor is read whose request head comes in small pieces: each costs a turn of the loop, whatever it brings. */
import { contained, type OnFault } from "@catenet/wire/transport/FaultBoundary"

/** Larger pieces are few within the size of a head. */
const crumbBytes = 256
/** A head may bring so many small pieces before the visitor is read at intervals only. */
const headCrumbs = 4
/** What the visitor sends while it is not read is read in one piece. */
const restMillis = 250

export class HeadPace {
  private readonly wake: () => void
  private crumbs = 0
  private timer: NodeJS.Timeout | undefined

  /** `wake`: the visitor may be read again. */
  constructor(onFault: OnFault, wake: () => void) {
    this.wake = contained(onFault, () => {
      this.timer = undefined
      wake()
    })
  }

  /** The visitor is not to be read now. */
  get rests(): boolean {
    return this.timer !== undefined
  }

  /** Hears of each piece; `inHead`: a head is not complete after it. True when a rest begins. */
  follow(piece: Buffer, inHead: boolean): boolean {
    if (!inHead) this.crumbs = 0
    else if (piece.length < crumbBytes) this.crumbs += 1
    if (this.crumbs <= headCrumbs || this.rests) return false
    // A bound on a raw socket. Most heads come in one piece and start none.
    this.timer = setTimeout(this.wake, restMillis).unref()
    return true
  }

  stop() {
    clearTimeout(this.timer)
  }
}
