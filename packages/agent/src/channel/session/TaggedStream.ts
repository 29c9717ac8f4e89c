/**
 * A relayed session that may move to a direct connection (signed-bytes.md 12.6 and 13): each relay message is tagged, and each
 * direction moves at a message of its own, so that no byte is lost or duplicated. The relay stays open: when the edge cuts it,
 * the session ends.
 */
import type { Name as KeyExchange } from "@catenet/crypto/admission/KeyExchange"
import * as Bytes from "@catenet/crypto/Bytes"
import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
import { frameOverhead } from "@catenet/crypto/noise/Transport"
import * as ControlMessage from "@catenet/crypto/upgrade/ControlMessage"
import { Scheduler } from "@catenet/platform/Scheduler"
import { abort } from "@catenet/wire/transport/Abort"
import { endHalf } from "@catenet/wire/transport/HalfClose"
import { Option, Result } from "effect"
import { Duplex } from "node:stream"
import { EndMarkMissing, GracefulEndMarker, type NoiseStream, type Session } from "../../mesh/NoiseStream.ts"

type Done = (error?: Error | null) => void
type Control = ControlMessage.ControlMessage

const { TaggedMessage: Message } = ControlMessage

/** Control messages that wait for their reader; more are dropped. */
const maxWaiting = 32

/** Overhead of a tagged message. */
const tagBytes = 1

/** Our own: the relay ended normally. Other implementations ignore it. */
const farewell = Uint8Array.of(3)

/** Messages that may arrive on the relay while this side still processes earlier ones. */
const graceMillis = 250

export class TaggedStream extends Duplex {
  readonly #relay: Duplex
  readonly #session: Session
  readonly keyExchange: KeyExchange
  #direct: NoiseStream | undefined
  #isSendingDirectly = false
  #isHearingDirectly = false
  #hasFarewell = false
  readonly #marks = new GracefulEndMarker()
  readonly #controls: Array<Control> = []
  #onControl: ((message: Control) => void) | undefined

  /** Takes over the carrier. */
  constructor(relay: Duplex, session: Session) {
    super({ allowHalfOpen: true })
    this.#relay = relay
    this.#session = session
    this.keyExchange = session.keyExchange
    this.on("error", () => {})
    relay.on("error", (error) => this.destroy(error))
    relay.on("end", () => this.#relayEnded())
    relay.on("close", () => {
      if (!relay.readableEnded) this.#cut()
    })
    for (const message of session.early) this.#open(message)
    relay.on("data", (chunk: Uint8Array) => this.#receive(chunk))
  }

  /**
   * Calls back with the peer's next control message, earlier ones first; undefined unregisters. An attempt to move lasts as long as
   * a callback is registered: a peer that has moved meanwhile may be ahead of this side's {@link attach}.
   */
  onControl(take: ((message: Control) => void) | undefined): void {
    this.#onControl = take
    if (take === undefined && this.#isHearingDirectly && this.#direct === undefined) return this.#linkIsMissing()
    this.#relay.resume()
    while (this.#onControl !== undefined) {
      const message = this.#controls.shift()
      if (message === undefined) return
      this.#onControl(message)
    }
  }

  control(message: Control): void {
    this.#send(Message.Control({ bytes: ControlMessage.encode(message) }))
  }

  /** As for a plain stream. The end mark is the last message of each direction, on either path. */
  markEnd(): void {
    this.#marks.isMarking = true
    this.#mark()
  }

  /** The direct connection, proved by both. The peer's moved data is read from it. */
  attach(direct: NoiseStream): void {
    this.#direct = direct
    direct.on("error", (error) => this.destroy(error))
    direct.on("close", () => {
      if (!direct.readableEnded) this.destroy(new Error("the direct link was cut"))
    })
    if (this.#isHearingDirectly) this.#readFrom(direct)
  }

  /** From now on everything written goes over the direct connection. */
  cutOver(): void {
    if (this.#direct === undefined || this.writableEnded || this.destroyed) return
    this.#send(Message.Cutover())
    this.#isSendingDirectly = true
  }

  /** Whether both directions have moved. */
  get hasMoved(): boolean {
    return this.#isSendingDirectly && this.#isHearingDirectly
  }

  /** Sends an empty message, which readers ignore. */
  begin(): void {
    if (this.#isSendingDirectly) this.#direct?.begin()
    else this.keepAlive()
  }

  /** The same on the relay. */
  keepAlive(): void {
    const frame = this.#session.transport.encryptFrame(new Uint8Array())
    if (Result.isSuccess(frame) && !this.#relay.destroyed && !this.#relay.writableEnded)
      this.#relay.write(frame.success)
  }

  override _read() {
    if (this.#isHearingDirectly) this.#direct?.resume()
    else this.#relay.resume()
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done) {
    const direct = this.#isSendingDirectly ? this.#direct : undefined
    if (direct !== undefined) {
      if (direct.write(chunk) || direct.destroyed) done()
      else direct.once("drain", done)
      return
    }
    const parts = Array.from(NoiseFrame.split(chunk))
    // One write for all frames of a chunk, as in an untagged stream.
    const frames = Buffer.allocUnsafeSlow(chunk.length + parts.length * (tagBytes + frameOverhead))
    let at = 0
    for (const part of parts) {
      const end = at + tagBytes + part.length + frameOverhead
      if (this.#frame(Message.Data({ bytes: part }), frames.subarray(at, end)) === undefined) return
      at = end
    }
    if (this.#relay.write(frames) || this.#relay.destroyed) done()
    else this.#relay.once("drain", done)
  }

  override _final(done: Done) {
    if (this.#marks.isMarking) this.#mark()
    if (!this.#isSendingDirectly) return endHalf(this.#relay, done)
    this.#direct?.end()
    done()
  }

  override _destroy(error: Error | null, done: Done) {
    const isWhole = error === null && this.readableEnded && this.writableFinished
    if (isWhole) {
      if (this.#isSendingDirectly) {
        this.#send({ _tag: "Control", bytes: farewell })
        this.#relay.end()
      }
      this.#relay.resume()
    } else {
      abort(this.#relay)
      if (this.#direct !== undefined) abort(this.#direct)
    }
    done(error)
  }

  #mark() {
    if (this.#isSendingDirectly) this.#direct?.begin()
    else this.#send(Message.Data({ bytes: new Uint8Array() }))
  }

  #frame(message: ControlMessage.TaggedMessage, output?: Uint8Array): Uint8Array | undefined {
    const frame = this.#session.transport.encryptFrame(ControlMessage.encodeTaggedMessage(message), output)
    if (Result.isSuccess(frame)) return frame.success
    this.destroy(frame.failure)
    return undefined
  }

  #send(message: ControlMessage.TaggedMessage) {
    const frame = this.#frame(message)
    if (frame !== undefined && !this.#relay.writableEnded && !this.#relay.destroyed) this.#relay.write(frame)
  }

  #receive(chunk: Uint8Array) {
    const messages = this.#session.decoder.push(chunk)
    if (Result.isFailure(messages)) return void this.destroy(messages.failure)
    for (const message of messages.success) this.#open(message)
  }

  #open(sealed: Uint8Array) {
    if (this.destroyed) return
    const plain = this.#session.transport.decrypt(sealed)
    if (Result.isFailure(plain)) return void this.destroy(plain.failure)
    const message = ControlMessage.decodeTaggedMessage(plain.success)
    switch (message._tag) {
      case "Data":
        if (this.#isHearingDirectly)
          return void this.destroy(new Error("the peer sent on the relay after it had moved"))
        this.#marks.heard(message.bytes.length === 0)
        if (message.bytes.length > 0 && !this.push(message.bytes)) this.#relay.pause()
        return
      case "Cutover":
        return this.#hearDirectly()
      case "Control":
        if (Bytes.equal(message.bytes, farewell)) this.#hasFarewell = true
        return this.#take(ControlMessage.decode(message.bytes))
      case "Ignored":
    }
  }

  #take(control: Option.Option<Control>) {
    if (Option.isNone(control)) return
    if (this.#onControl !== undefined) this.#onControl(control.value)
    else if (this.#controls.length < maxWaiting) this.#controls.push(control.value)
  }

  #hearDirectly() {
    if (this.#isHearingDirectly) return
    const direct = this.#direct
    if (direct === undefined && this.#onControl === undefined) return this.#linkIsMissing()
    this.#isHearingDirectly = true
    // From here on the relay's messages are handled by this stream and not passed to its reader.
    this.#relay.resume()
    if (direct !== undefined) this.#readFrom(direct)
  }

  #linkIsMissing() {
    this.destroy(new Error("the peer moved to a direct link that is not there"))
  }

  #readFrom(direct: NoiseStream) {
    direct.on("data", (chunk: Uint8Array) => {
      if (!this.push(chunk)) direct.pause()
    })
    direct.on("end", () => {
      this.#marks.heard(direct.isEndMarked)
      this.#ended()
    })
    this.emit("moved")
  }

  /** The end of the relay is that of the peer's direction, or, once that has moved, that of the session. */
  #relayEnded() {
    const torn = this.#session.decoder.end()
    if (Result.isFailure(torn)) return void this.destroy(torn.failure)
    if (this.#isHearingDirectly) return this.#cut()
    this.#ended()
  }

  #ended() {
    if (this.#marks.areMissing) this.destroy(new EndMarkMissing())
    else this.push(null)
  }

  #cut() {
    if (this.destroyed || this.#hasFarewell || this.readableEnded) return
    const timer = Scheduler.setTimeout(() => this.destroy(new Error("the relay was cut")), graceMillis).unref()
    this.once("close", () => Scheduler.clearTimeout(timer))
  }
}
