/**
 * Tells the end of a peer from its death. A carrier says the same of both, and so can the edge that carries it. A side that marks its
 * end says so by an empty message before all others, and sends another one as its last.
 */

/** The peer marks its end, and has gone without. */
export class EndMarkMissing extends Error {
  override readonly name = "EndMarkMissing"
  override readonly message = "the peer went away before it had ended"
}

export class GracefulEndMarker {
  /** Whether this side marks its end, and expects it of a peer that says so. */
  isMarking = false
  #isFirst = true
  #isMarked = false
  #isEnd = false

  /** The next message of the peer: empty, or with something to read. */
  heard(isEmpty: boolean): void {
    if (this.#isFirst) this.#isMarked = isEmpty
    else this.#isEnd = isEmpty
    this.#isFirst = false
  }

  /** Whether the last message was empty, and not the first. */
  get isEnd(): boolean {
    return this.#isEnd
  }

  /** Whether an end now would be none. */
  get areMissing(): boolean {
    return this.isMarking && this.#isMarked && !this.#isEnd
  }
}
