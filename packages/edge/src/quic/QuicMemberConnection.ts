/**
 * Presents the connection of an admitted member to the room as a single stream (data-plane 7.2 and 8.1). The room's answer ends
 * the stream of the join, without its newline; the session is another stream of the connection, opened by whichever side initiates
 * it. If a broken stream would look complete, the connection is closed instead.
 */
import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Bytes from "@catenet/crypto/Bytes"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { cutAfter } from "@catenet/wire/transport/LingeringClose"
import { Result } from "effect"
import { Duplex } from "node:stream"

/** The member joins again at once by the same strategy (7.6). */
const expired = "park-expired: no other member came, or a newer join took the place"
const sessionMillis = 5_000
const newline = 0x0a

type Done = (error?: Error | null) => void

export class QuicMemberConnection extends Duplex {
  readonly #connection: QuicConnection
  readonly #join: CarrierStream
  /** The room's answer so far; undefined once it was passed on. */
  #word: Uint8Array | undefined = new Uint8Array(0)
  /** Whether a session follows the answer. */
  goesOn = false
  #begins = false
  #session: CarrierStream | undefined
  #waiting: ((session: CarrierStream) => void) | undefined
  /** A stream that the member opened too early. */
  #early: CarrierStream | undefined

  constructor(connection: QuicConnection, join: CarrierStream) {
    super({ allowHalfOpen: true })
    this.#connection = connection
    this.#join = join
    join.resume()
    this.on("error", () => undefined)
    void connection.closed.then(() => this.destroy())
  }

  /** Whether both sides have finished, so that data in transit may still arrive. */
  get isComplete(): boolean {
    return this.writableFinished && (this.readableEnded || !this.goesOn)
  }

  /** Called when the member opens another stream. */
  came(stream: CarrierStream): void {
    if (this.#session !== undefined || this.#early !== undefined || !this.#mayOpen)
      return stream.reset("refused", "the session has one stream")
    if (this.goesOn) this.#attach(stream)
    else this.#early = stream
  }

  get #mayOpen(): boolean {
    return this.#word !== undefined || (this.goesOn && this.#begins)
  }

  override _read(): void {
    this.#session?.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (this.#word === undefined) return this.#pass(chunk, done)
    this.#word = Bytes.concat(this.#word, chunk)
    const end = this.#word.indexOf(newline)
    if (Refusal.isRefusal(this.#word) || end < 0) return done()
    const rest = this.#word.subarray(end + 1)
    this.#introduce(this.#word.subarray(0, end))
    return rest.length === 0 ? done() : this.#pass(rest, done)
  }

  override _final(done: Done): void {
    const word = this.#word
    this.#word = undefined
    if (word !== undefined) {
      if (Result.getOrElse(Bytes.toText(word), () => "") === "EX") this.#connection.close(0, expired)
      else this.#join.end(word)
      return done()
    }
    if (!this.goesOn) return done()
    this.#withSession((session) => void session.end(done))
  }

  override _destroy(error: Error | null, done: Done): void {
    if (!this.isComplete) this.#connection.close()
    done(error)
  }

  #introduce(line: Uint8Array): void {
    const read = Acknowledgement.read(line, true)
    this.#word = undefined
    this.#join.end(line)
    if (Result.isFailure(read)) return
    const { next, role } = read.success.acknowledgement
    this.goesOn = next !== "close"
    this.#begins = role === "initiate"
    if (!this.goesOn) return
    if (!this.#begins) return this.#open()
    if (this.#early !== undefined) return this.#attach(this.#early)
    const came = cutAfter(this, sessionMillis)
    this.#withSession(came)
  }

  #open(): void {
    const opened = this.#connection.open()
    if (Result.isFailure(opened)) return void this.destroy()
    this.#attach(opened.success)
  }

  #attach(session: CarrierStream): void {
    this.#session = session
    session.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) session.pause()
    })
    session.once("end", () => this.push(null))
    session.once("close", () => {
      if (session.resetBy !== undefined) this.destroy()
    })
    session.resume()
    this.#waiting?.(session)
  }

  #withSession(use: (session: CarrierStream) => void): void {
    if (this.#session !== undefined) return use(this.#session)
    const before = this.#waiting
    this.#waiting = (session) => {
      before?.(session)
      use(session)
    }
  }

  #pass(bytes: Uint8Array, done: Done): void {
    if (this.goesOn) this.#withSession((session) => void session.write(bytes, done))
    else done()
  }
}
