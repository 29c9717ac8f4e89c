/**
 * Takes single frames off a stream, for the phases of a connection that come before its bytes are relayed. It reads
 * while a frame is asked for, or after `watch`, which notices that the peer goes away; `release` gives the stream back with
 * every byte that was not taken.
 */
import { Data, Result } from "effect"
import { Buffer } from "node:buffer"
import type { Duplex } from "node:stream"
import type { Decoding } from "../frames/Frame.ts"

/** No frame: it did not come in time, the stream ended first, or the bytes are no such frame. */
export class FrameMissing extends Data.TaggedError("FrameMissing")<{
  readonly reason: "timeout" | "closed" | "malformed"
  readonly detail: string
}> {}

/** Largest number of bytes held before a frame is asked for. */
export const heldBytes = 64 * 1024

interface Waiting {
  readonly look: () => boolean
  readonly fail: (reason: FrameMissing["reason"], detail: string) => void
}

export class FrameReader {
  readonly #stream: Duplex
  readonly #onEnd: () => void
  #held: Buffer = Buffer.alloc(0)
  #waiting: Waiting | undefined
  #ended = false

  /** `onEnd` is called once, when the peer ends or breaks the stream while the reader is attached. */
  constructor(stream: Duplex, onEnd: () => void = () => {}) {
    this.#stream = stream
    this.#onEnd = onEnd
    for (const event of ["end", "error", "close"]) stream.on(event, this.#onClosed)
    // Stays after release: a socket that breaks before its next owner listens must not end the process.
    stream.on("error", () => {})
    stream.on("data", this.#onData)
    stream.pause()
    if (stream.destroyed || stream.readableEnded) this.#onClosed()
  }

  /** Bytes that came without being asked for. */
  get held(): number {
    return this.#held.length
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The next frame; one at a time. Without a bound it waits until the stream ends. */
  next<A>(decode: (bytes: Uint8Array) => Decoding<A>, timeoutMillis?: number): Promise<Result.Result<A, FrameMissing>> {
    const { promise, resolve } = Promise.withResolvers<Result.Result<A, FrameMissing>>()
    let timer: NodeJS.Timeout | undefined
    const settle = (result: Result.Result<A, FrameMissing>) => {
      clearTimeout(timer)
      this.#waiting = undefined
      resolve(result)
    }
    const fail: Waiting["fail"] = (reason, detail) => settle(Result.fail(new FrameMissing({ reason, detail })))
    const look = (): boolean => {
      const decoding = decode(this.#held)
      if (Result.isSuccess(decoding)) {
        this.#putBack(this.#held.subarray(decoding.success.size))
        settle(Result.succeed(decoding.success.value))
        return true
      }
      if (decoding.failure._tag === "NeedMore") return false
      fail("malformed", decoding.failure.reason)
      return true
    }
    if (look()) return promise
    if (this.#ended) {
      fail("closed", "")
      return promise
    }
    this.#waiting = { look, fail }
    // A bound on a raw socket: a silent peer must not keep its connection.
    if (timeoutMillis !== undefined) timer = setTimeout(() => fail("timeout", ""), timeoutMillis)
    this.watch()
    return promise
  }

  /** Reads on without asking for anything, so that a peer that goes away is noticed. */
  watch(): void {
    if (!this.#ended && this.#held.length < heldBytes) this.#stream.resume()
  }

  /** Detaches; the stream is paused and starts with the first byte that was not taken. */
  release(): Duplex {
    this.#detach()
    this.#putBack(this.#held)
    return this.#stream
  }

  /** The owner of the frame decides who reads on. At once, since bytes put back also delay the end of a stream. */
  #putBack(rest: Buffer): void {
    this.#held = Buffer.alloc(0)
    this.#stream.pause()
    if (rest.length > 0 && !this.#stream.destroyed && !this.#stream.readableEnded) this.#stream.unshift(rest)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#waiting?.look()
    if (this.#held.length >= heldBytes) this.#stream.pause()
  }

  readonly #onClosed = (): void => {
    if (this.#ended) return
    this.#ended = true
    this.#detach()
    this.#waiting?.fail("closed", "")
    this.#onEnd()
  }

  #detach(): void {
    this.#stream.off("data", this.#onData)
    for (const event of ["end", "error", "close"]) this.#stream.off(event, this.#onClosed)
  }
}
