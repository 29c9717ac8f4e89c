/**
 * Reads a session's messages, each behind its length (u16be), whole and in order, buffering only a few. A message may span
 * several frames.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
import { Data, Deferred, Effect, Result } from "effect"
import type { Duplex } from "node:stream"

/** The session ended within a message, or was cut. */
export class MessagesCut extends Data.TaggedError("MessagesCut")<{ readonly why: string }> {
  override get message() {
    return `The session was cut: ${this.why}`
  }
}

/** Messages that wait for their reader; the stream is paused at this many. */
export const maxWaiting = 64

export class MessageReader {
  readonly #stream: Duplex
  readonly #take: (message: Uint8Array) => boolean
  readonly #onEnd: (cut: MessagesCut | undefined) => void
  readonly #decoder = new NoiseFrame.FrameDecoder()
  readonly #waiting: Array<Uint8Array> = []
  #reader: Deferred.Deferred<void> | undefined
  /** How the messages ended. */
  #end: Effect.Effect<undefined, MessagesCut> | undefined

  /**
   * Takes over the readable side. Messages that `take` accepts are not queued; `onEnd` is called once when no more messages will
   * come, with the error if the session was cut.
   */
  constructor(
    stream: Duplex,
    take: (message: Uint8Array) => boolean = () => false,
    onEnd: (cut: MessagesCut | undefined) => void = () => {}
  ) {
    this.#stream = stream
    this.#take = take
    this.#onEnd = onEnd
    for (const [event, listener] of Object.entries(this.#listeners)) stream.on(event, listener)
  }

  readonly #listeners = {
    data: (chunk: Uint8Array) => this.#receive(chunk),
    end: () => {
      const torn = this.#decoder.end()
      this.#finish(Result.isFailure(torn) ? torn.failure.message : undefined)
    },
    error: (error: Error) => this.#finish(error.message),
    close: () => this.#finish("the connection was closed")
  }

  /** Leaves the stream to another reader, between two messages; false if the peer has sent more. */
  release(): boolean {
    this.#stream.pause()
    // An error that nobody listens to would end the process.
    for (const [event, listener] of Object.entries(this.#listeners))
      if (event !== "error") this.#stream.off(event, listener)
    return this.#waiting.length === 0 && Result.isSuccess(this.#decoder.end())
  }

  /** The next message; undefined if the peer ended between two. Only one reader at a time; it may stop and continue later. */
  readonly next: Effect.Effect<Uint8Array | undefined, MessagesCut> = Effect.suspend(() => this.#shift())

  /** Whether no more messages will come. */
  get isOver(): boolean {
    return this.#end !== undefined
  }

  #shift(): Effect.Effect<Uint8Array | undefined, MessagesCut> {
    const message = this.#waiting.shift()
    if (message !== undefined) {
      if (this.#waiting.length < maxWaiting) this.#stream.resume()
      return Effect.succeed(message)
    }
    if (this.#end !== undefined) return this.#end
    const reader = Deferred.makeUnsafe<void>()
    this.#reader = reader
    return Effect.flatMap(Deferred.await(reader), () => this.#shift())
  }

  #receive(chunk: Uint8Array) {
    const messages = this.#decoder.push(chunk)
    if (Result.isFailure(messages)) return this.#finish(messages.failure.message)
    for (const message of messages.success) if (!this.#take(message)) this.#waiting.push(Bytes.copy(message))
    if (this.#waiting.length >= maxWaiting) this.#stream.pause()
    if (this.#waiting.length > 0) this.#wake()
  }

  #wake() {
    const reader = this.#reader
    this.#reader = undefined
    // Called synchronously; it may request the next message.
    if (reader !== undefined) Deferred.doneUnsafe(reader, Effect.void)
  }

  #finish(why: string | undefined) {
    if (this.#end !== undefined) return
    const cut = why === undefined ? undefined : new MessagesCut({ why })
    this.#end = cut === undefined ? Effect.undefined : Effect.fail(cut)
    this.#wake()
    this.#onEnd(cut)
  }
}

/** Sends one message, of at most 65,535 bytes; succeeds when more may be sent. */
export const send = (stream: Duplex, message: Uint8Array): Effect.Effect<void, MessagesCut> =>
  Effect.suspend(() => {
    const frame = NoiseFrame.encode(message)
    if (Result.isFailure(frame)) return Effect.fail(new MessagesCut({ why: frame.failure.message }))
    if (stream.destroyed) return Effect.fail(new MessagesCut({ why: "the connection was closed" }))
    return stream.write(frame.success) ? Effect.void : drained(stream)
  })

const drained = (stream: Duplex) =>
  Effect.callback<void, MessagesCut>((resume) => {
    const ready = () => resume(Effect.void)
    const closed = () => resume(Effect.fail(new MessagesCut({ why: "the connection was closed" })))
    stream.once("drain", ready)
    stream.once("close", closed)
    return Effect.sync(() => {
      stream.off("drain", ready)
      stream.off("close", closed)
    })
  })
