/**
 * Reads big-endian fields off a byte string. A read past the end yields zero or nothing and marks the cursor as
 * overrun, so that a parser checks once, at its end, instead of after every field.
 * @internal
 */
import { view } from "./Frame.ts"

const nothing = Buffer.alloc(0)

export class Cursor {
  readonly #bytes: Buffer
  #at = 0
  #overrun = false

  constructor(bytes: Uint8Array) {
    this.#bytes = view(bytes)
  }

  /** True once a read asked for more bytes than there were. */
  get overrun(): boolean {
    return this.#overrun
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  /** `length` bytes over the same memory, or none when there are fewer. */
  take(length: number): Buffer {
    if (length > this.left) {
      this.#overrun = true
      this.#at = this.#bytes.length
      return nothing
    }
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  u8(): number {
    const field = this.take(1)
    return field.length === 1 ? field.readUInt8(0) : 0
  }

  u16(): number {
    const field = this.take(2)
    return field.length === 2 ? field.readUInt16BE(0) : 0
  }

  u32(): number {
    const field = this.take(4)
    return field.length === 4 ? field.readUInt32BE(0) : 0
  }
}
