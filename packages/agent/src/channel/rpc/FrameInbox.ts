/**
 * The messages of a session, each behind its length (u16be): whole ones, in order, no more than a few ahead of their reader. A frame
 * is independent of the session's own messages: one may span several.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Frame from "@catenet/crypto/noise/Frame"
import { Data, Deferred, Effect, Result } from "effect"
import type { Duplex } from "node:stream"

/** The session ended within a message, or was cut. */
export class MessagesCut extends Data.TaggedError("MessagesCut")<{ readonly why: string }> {
  override get message() {
    return `The session was cut: ${this.why}`
  }
}

/** Messages that wait for their reader; the stream is paused at this many. */
export const mostWaiting = 64

export class FrameInbox {
  readonly #stream: Duplex
  readonly #take: (message: Uint8Array) => boolean
  readonly #decoder = new Frame.FrameDecoder()
  readonly #waiting: Array<Uint8Array> = []
  #reader: Deferred.Deferred<Uint8Array | undefined, MessagesCut> | undefined
  /** How the messages ended, when they have. */
  #end: Effect.Effect<undefined, MessagesCut> | undefined

  /** Takes the readable side over. What `take` accepts as it comes is not put in the line. */
  constructor(stream: Duplex, take: (message: Uint8Array) => boolean = () => false) {
    this.#stream = stream
    this.#take = take
    stream.on("data", (chunk: Uint8Array) => this.#receive(chunk))
    stream.on("end", () => {
      const torn = this.#decoder.end()
      this.#finish(Result.isFailure(torn) ? torn.failure.message : undefined)
    })
    stream.on("error", (error) => this.#finish(error.message))
    stream.on("close", () => this.#finish("the connection was closed"))
  }

  /** The next message; undefined when the peer has ended between two. One reader at a time. */
  get next(): Effect.Effect<Uint8Array | undefined, MessagesCut> {
    return Effect.suspend(() => {
      const message = this.#waiting.shift()
      if (message !== undefined) {
        if (this.#waiting.length < mostWaiting) this.#stream.resume()
        return Effect.succeed(message)
      }
      if (this.#end !== undefined) return this.#end
      const reader = Deferred.makeUnsafe<Uint8Array | undefined, MessagesCut>()
      this.#reader = reader
      return Deferred.await(reader)
    })
  }

  #receive(chunk: Uint8Array) {
    const messages = this.#decoder.push(chunk)
    if (Result.isFailure(messages)) return this.#finish(messages.failure.message)
    for (const message of messages.success) if (!this.#take(message)) this.#deliver(message)
    if (this.#waiting.length >= mostWaiting) this.#stream.pause()
  }

  #deliver(message: Uint8Array) {
    const reader = this.#reader
    this.#reader = undefined
    if (reader === undefined) this.#waiting.push(Bytes.copy(message))
    else Deferred.doneUnsafe(reader, Effect.succeed(Bytes.copy(message)))
  }

  #finish(why: string | undefined) {
    if (this.#end !== undefined) return
    this.#end = why === undefined ? Effect.undefined : Effect.fail(new MessagesCut({ why }))
    if (this.#reader !== undefined) Deferred.doneUnsafe(this.#reader, this.#end)
    this.#reader = undefined
  }
}

/** Sends one message, of at most 65,535 bytes; succeeds when more may be sent. */
export const send = (stream: Duplex, message: Uint8Array): Effect.Effect<void, MessagesCut> =>
  Effect.suspend(() => {
    const frame = Frame.encode(message)
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
