/**
 * Received bytes that wait for a slow reader. Small pieces are copied together, so that what is held is close to what
 * is counted: a one-byte slice would otherwise keep a whole network buffer alive.
 * @internal
 */
import { Buffer } from "node:buffer"

const smallestBlock = 256
const largestBlock = 16 * 1024

export class ByteQueue {
  readonly #blocks: Array<Buffer> = []
  #tail: Buffer | undefined
  #tailUsed = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  append(piece: Buffer): void {
    this.#length += piece.length
    const holdsLittleMore = piece.length * 2 >= piece.buffer.byteLength
    if (holdsLittleMore || piece.length >= largestBlock) {
      this.#seal()
      this.#blocks.push(holdsLittleMore ? piece : copyOf(piece))
      return
    }
    for (let at = 0; at < piece.length;) {
      const tail =
        this.#tail !== undefined && this.#tailUsed < this.#tail.length ? this.#tail : this.#grow(piece.length)
      const copied = piece.copy(tail, this.#tailUsed, at)
      this.#tailUsed += copied
      at += copied
    }
  }

  /** The oldest bytes, in a piece of any length; `undefined` when there are none. */
  shift(): Buffer | undefined {
    if (this.#blocks.length === 0) this.#seal()
    const block = this.#blocks.shift()
    if (block !== undefined) this.#length -= block.length
    return block
  }

  clear(): void {
    this.#blocks.length = 0
    this.#tail = undefined
    this.#tailUsed = 0
    this.#length = 0
  }

  #seal(): void {
    if (this.#tail !== undefined && this.#tailUsed > 0) this.#blocks.push(this.#tail.subarray(0, this.#tailUsed))
    this.#tail = undefined
    this.#tailUsed = 0
  }

  #grow(atLeast: number): Buffer {
    const size = Math.min(largestBlock, Math.max(smallestBlock, atLeast, 2 * (this.#tail?.length ?? 0)))
    this.#seal()
    this.#tail = Buffer.allocUnsafeSlow(size)
    return this.#tail
  }
}

const copyOf = (piece: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(piece.length)
  piece.copy(copy)
  return copy
}
