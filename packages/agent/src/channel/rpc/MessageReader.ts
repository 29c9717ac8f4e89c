/**
 * The messages of a session, each behind its length (u16be): whole ones, in order, no more than a few ahead of their reader. A frame
 * is independent of the session's own messages: one may span several.
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
  /** How the messages ended, when they have. */
  #end: Effect.Effect<undefined, MessagesCut> | undefined

  /**
   * Takes the readable side over. What `take` accepts as it comes is not put in the line; `onEnd` is called once, when no more
   * messages come, with how the session was cut where it was.
   */
  constructor(
    stream: Duplex,
    take: (message: Uint8Array) => boolean = () => false,
    onEnd: (cut: MessagesCut | undefined) => void = () => {}
  ) {
    this.#stream = stream
    this.#take = take
    this.#onEnd = onEnd
    stream.on("data", (chunk: Uint8Array) => this.#receive(chunk))
    stream.on("end", () => {
      const torn = this.#decoder.end()
      this.#finish(Result.isFailure(torn) ? torn.failure.message : undefined)
    })
    stream.on("error", (error) => this.#finish(error.message))
    stream.on("close", () => this.#finish("the connection was closed"))
  }

  /** The next message; undefined when the peer has ended between two. One reader at a time, which may give up and come again. */
  readonly next: Effect.Effect<Uint8Array | undefined, MessagesCut> = Effect.suspend(() => this.#shift())

  /** No more messages come. */
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
    // It may run at once, and wait for the next message.
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
