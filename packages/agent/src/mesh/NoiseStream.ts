/**
 * A Noise session as a stream: writes become encrypted frames, reads are decrypted. The end of the carrier's half after a whole
 * frame is the end of the stream; a truncated or forged frame is an error. A cut between two frames looks like an end unless both
 * sides mark theirs ({@link NoiseStream.markEnd}).
 */
import type { Name as KeyExchange } from "@catenet/crypto/admission/KeyExchange"
import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
import { frameOverhead, type Transport } from "@catenet/crypto/noise/Transport"
import { abort } from "@catenet/wire/transport/Abort"
import { endHalf } from "@catenet/wire/transport/HalfClose"
import { Deferred, Effect, Result } from "effect"
import { Duplex } from "node:stream"

// Distinguishes a peer's end from its death, which a carrier reports in the same way. A side that marks its end announces this
// with an empty first message, and sends another one as its last.

/** The peer marks its end, but disconnected without it. */
export class EndMarkMissing extends Error {
  override readonly name = "EndMarkMissing"
  override readonly message = "the peer went away before it had ended"
}

export class GracefulEndMarker {
  /** Whether this side marks its end, and expects it from a peer that announces it. */
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

  /** Whether an end now would be incomplete. */
  get areMissing(): boolean {
    return this.isMarking && this.#isMarked && !this.#isEnd
  }
}

export interface Session {
  readonly transport: Transport
  /** Reads the carrier's frames from the end of the handshake. */
  readonly decoder: NoiseFrame.FrameDecoder
  /** Whole messages that arrived with the handshake. */
  readonly early: ReadonlyArray<Uint8Array>
  readonly keyExchange: KeyExchange
}

type Done = (error?: Error | null) => void

export class NoiseStream extends Duplex {
  readonly #carrier: Duplex
  readonly #session: Session
  readonly #datagrams: boolean
  readonly keyExchange: KeyExchange
  readonly #begun = Deferred.makeUnsafe<boolean>()
  readonly #marks = new GracefulEndMarker()

  /** Takes over the carrier. With `datagrams`, every write is one frame and every frame one read. */
  constructor(carrier: Duplex, session: Session, { datagrams = false }: { readonly datagrams?: boolean } = {}) {
    super({ allowHalfOpen: true, readableObjectMode: datagrams })
    this.#carrier = carrier
    this.#session = session
    this.keyExchange = session.keyExchange
    this.#datagrams = datagrams
    // The stream may break before its next owner listens; that must not end the process.
    this.on("error", () => {})
    carrier.on("error", (error) => this.destroy(error))
    carrier.on("close", () => {
      if (!this.readableEnded && !carrier.readableEnded) this.destroy(new Error("the connection was cut"))
    })
    carrier.on("end", () => {
      const torn = session.decoder.end()
      if (Result.isFailure(torn)) this.destroy(torn.failure)
      else if (this.#marks.areMissing) this.destroy(new EndMarkMissing())
      else this.push(null)
      this.#settle(false)
    })
    for (const message of session.early) this.#open(message)
    carrier.on("data", (chunk: Uint8Array) => this.#receive(chunk))
  }

  /** True once the peer's first frame has arrived, empty or not; false if the stream ended without one. */
  get begun(): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      // Resumes the carrier, which its previous owner left paused.
      this.read(0)
      return Deferred.await(this.#begun)
    })
  }

  /** Sends an empty frame: nothing to read, but the peer knows that this stream is used. */
  begin() {
    const frame = this.#session.transport.encryptFrame(new Uint8Array())
    if (Result.isSuccess(frame)) this.#carrier.write(frame.success)
  }

  /**
   * From now on this side marks its end, and one without a mark breaks the stream when the peer marks its own, too. It must be
   * called before the first byte is written. An empty frame is a mark, which other implementations ignore.
   */
  markEnd() {
    this.#marks.isMarking = true
    this.begin()
  }

  /** Whether the last frame of the peer marks its end. */
  get isEndMarked(): boolean {
    return this.#marks.isEnd
  }

  override _read() {
    this.#carrier.resume()
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done) {
    const parts = this.#datagrams ? [chunk] : Array.from(NoiseFrame.split(chunk))
    // One buffer for all frames of a chunk: a buffer and a write for each cost a tenth of the whole path.
    const frames = Buffer.allocUnsafeSlow(chunk.length + parts.length * frameOverhead)
    let at = 0
    for (const part of parts) {
      const end = at + part.length + frameOverhead
      const frame = this.#session.transport.encryptFrame(part, frames.subarray(at, end))
      if (Result.isFailure(frame)) return done(frame.failure)
      at = end
    }
    if (this.#carrier.write(frames) || this.#carrier.destroyed) done()
    else this.#carrier.once("drain", done)
  }

  override _final(done: Done) {
    if (this.#marks.isMarking && !this.#carrier.destroyed) this.begin()
    endHalf(this.#carrier, done)
  }

  override _destroy(error: Error | null, done: Done) {
    this.#settle(false)
    // The carrier is ended when both halves are over; an earlier end leaves it half open.
    if (error !== null || !this.readableEnded || !this.writableFinished) abort(this.#carrier)
    done(error)
  }

  #settle(begun: boolean) {
    Deferred.doneUnsafe(this.#begun, Effect.succeed(begun))
  }

  #receive(chunk: Uint8Array) {
    const messages = this.#session.decoder.push(chunk)
    if (Result.isFailure(messages)) return void this.destroy(messages.failure)
    for (const message of messages.success) this.#open(message)
  }

  #open(message: Uint8Array) {
    if (this.destroyed) return
    const plain = this.#session.transport.decrypt(message)
    if (Result.isFailure(plain)) return void this.destroy(plain.failure)
    this.#settle(true)
    this.#marks.heard(plain.success.length === 0)
    // Outside datagram mode an empty chunk means nothing, and Node treats it as a pause.
    if (plain.success.length === 0 && !this.#datagrams) return
    if (!this.push(plain.success)) this.#carrier.pause()
  }
}
