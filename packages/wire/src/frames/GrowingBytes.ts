/**
 * Bytes appended piece by piece in linear time, however small the pieces.
 * @internal
 */
import { view } from "./Frame.ts"

export class GrowingBytes {
  #memory: Buffer
  #length = 0

  constructor(capacity: number) {
    this.#memory = Buffer.allocUnsafeSlow(capacity)
  }

  get length(): number {
    return this.#length
  }

  /** The bytes so far, over the same memory: valid until the next `append`. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  append(piece: Uint8Array): void {
    const needed = this.#length + piece.length
    if (needed > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#memory.length * 2))
      this.#memory.copy(larger, 0, 0, this.#length)
      this.#memory = larger
    }
    view(piece).copy(this.#memory, this.#length)
    this.#length = needed
  }
}
