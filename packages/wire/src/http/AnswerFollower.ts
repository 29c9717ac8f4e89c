/**
 * Whether an HTTP/1.1 origin has answered whole, judged by what it sends alone and by the method that the client wrote last. Another
 * protocol is never whole, nor is an answer that ends with its connection. Pure.
 */
import { ResponseTracker } from "./ResponseTracker.ts"

const methodPattern = /^([A-Z]{3,12}) [^ ]/
/** Bytes of a chunk in which a method may stand. */
const looked = 16
const isUpperCase = (byte: number | undefined) => byte !== undefined && byte >= 0x41 && byte <= 0x5a

export class AnswerFollower {
  readonly #answers = new ResponseTracker()
  #method = "GET"
  #hasAnswered = false

  /** A chunk of the client. */
  asks(chunk: Uint8Array): void {
    if (this.#answers.isEndless || !isUpperCase(chunk[0])) return
    const beginning = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, looked)).toString("latin1")
    this.#method = methodPattern.exec(beginning)?.[1] ?? this.#method
  }

  /** A chunk of the origin. */
  answers(chunk: Buffer): void {
    if (this.#answers.isWhole) this.#answers.asks({ method: this.#method, upgrade: false })
    this.#answers.push(chunk)
    this.#hasAnswered = true
  }

  /** The last answer has come to its end. */
  get isWhole(): boolean {
    return this.#hasAnswered && this.#answers.isWhole
  }
}
