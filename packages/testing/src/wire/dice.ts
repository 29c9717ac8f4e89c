/** Deterministic randomness from a seed, for histories and mutations that would be slow to generate value by value. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0 || 1
  }

  /** 0 to 2^32 - 1. */
  next(): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return this.#state
  }

  /** `minimum` to `maximum`, both included. */
  between(minimum: number, maximum: number): number {
    return minimum + (this.next() % (maximum - minimum + 1))
  }

  pick<A>(choices: ReadonlyArray<A>): A {
    return choices[this.between(0, choices.length - 1)]!
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    let at = 0
    for (; at + 4 <= length; at += 4) bytes.writeUInt32LE(this.next(), at)
    for (; at < length; at++) bytes[at] = this.next()
    return bytes
  }
}
