/** How often a visitor is read whose request head comes in small pieces: each costs a turn of the loop, whatever it brings. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import type { TLSSocket } from "node:tls"

/** Larger pieces are few within the size of a head. */
export const crumbBytes = 256
/** A head may bring so many small pieces before the visitor is read at intervals only. */
const headCrumbs = 4
/**
 * What the visitor sends meanwhile is read in one piece after the first rest or a later one. Each small piece costs its TLS
 * record whenever it is read; those of a visitor who is cut before were not.
 */
const firstRestMillis = 1_000
const restMillis = 4_000

export interface Rests {
  readonly firstMillis: number
  readonly laterMillis: number
  /**
   * After a rest the pieces that wait are let in for so long, and read as one. A socket of the kernel needs none of it; a stream
   * that is none gives one piece for each read.
   */
  readonly gatherMillis: number
}
const usualRests: Rests = { firstMillis: firstRestMillis, laterMillis: restMillis, gatherMillis: 0 }

/** The state of a readable stream, which Node shows but does not document. */
interface Buffering {
  readonly _readableState?: { highWaterMark: number }
}

/**
 * A paused socket of Node goes on to decrypt each piece into its buffer until `highWaterMark` bytes lie there. With a mark
 * of one byte it reads one piece more, and leaves the rest to the kernel.
 */
const setReadAhead = ({ _readableState: state }: TLSSocket & Buffering, bytes: number) => {
  if (state !== undefined) state.highWaterMark = bytes
}

export class HeaderReadThrottle {
  readonly #visitor: TLSSocket
  readonly #wake: () => void
  readonly #rests: Rests
  #crumbs = 0
  #hasRested = false
  #timer: NodeJS.Timeout | undefined

  /** `wake`: the visitor may be read again. */
  constructor(visitor: TLSSocket, onFault: OnFault, wake: () => unknown, rests: Rests = usualRests) {
    this.#visitor = visitor
    this.#rests = rests
    const readAhead = visitor.readableHighWaterMark
    const read = guarded(onFault, () => {
      this.#timer = undefined
      // Emits all that lies there as one piece, where `resume` would emit one for each that came.
      if (!visitor.destroyed && visitor.readableLength > 0) visitor.read(visitor.readableLength)
      if (!this.rests) wake()
    })
    this.#wake = guarded(onFault, () => {
      setReadAhead(visitor, readAhead)
      if (rests.gatherMillis === 0) return read()
      visitor.read(0)
      this.#timer = Scheduler.setTimeout(read, rests.gatherMillis).unref()
    })
  }

  /** The visitor is not to be read now. */
  get rests(): boolean {
    return this.#timer !== undefined
  }

  /** Hears of each piece, and begins a rest where they are small; `inHead`: a head is not complete after it. */
  follow(piece: Buffer, inHead: boolean): void {
    if (!inHead) {
      this.#crumbs = 0
      this.#hasRested = false
    } else if (piece.length < crumbBytes) this.#crumbs += 1
    if (this.#crumbs <= headCrumbs || this.rests) return
    this.#visitor.pause()
    setReadAhead(this.#visitor, 1)
    // A bound on a raw socket. Most heads come in one piece and start none.
    this.#timer = Scheduler.setTimeout(
      this.#wake,
      this.#hasRested ? this.#rests.laterMillis : this.#rests.firstMillis
    ).unref()
    this.#hasRested = true
  }

  /** Begins a rest of so long, unless there is one. */
  rest(millis: number): void {
    if (millis <= 0 || this.rests) return
    this.#visitor.pause()
    setReadAhead(this.#visitor, 1)
    this.#timer = Scheduler.setTimeout(this.#wake, millis).unref()
  }

  stop() {
    Scheduler.clearTimeout(this.#timer)
  }
}
