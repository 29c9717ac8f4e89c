/**
 * The connection of a member by QUIC as one stream (data-plane 7.2 and 8.1): the join is its first stream, whose end is the end of the
 * acknowledgement, and the session another one. The member that speaks first opens that; the other one waits for it.
 */
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { Result } from "effect"
import { Duplex } from "node:stream"

const parkExpired = "park-expired:"
const newline = 0x0a

type Done = (error?: Error | null) => void

export class QuicBrokerConnection extends Duplex {
  readonly #connection: QuicConnection
  readonly #join: CarrierStream
  #session: CarrierStream | undefined
  #isJoined = false
  #isProved = false
  #last: number | undefined
  /** The first two bytes of the word behind the challenge. */
  #said = ""
  readonly localAddress: string | undefined
  bytesRead = 0
  bytesWritten = 0

  constructor(connection: QuicConnection, join: CarrierStream, localAddress: string | undefined) {
    super({ allowHalfOpen: true })
    this.localAddress = localAddress
    this.#connection = connection
    this.#join = join
    connection.take((stream) => {
      if (this.#session !== undefined) return stream.reset("refused", "the session has one stream")
      this.#attach(stream)
    })
    this.#read(join)
    join.once("end", () => this.#joined())
    void connection.closed.then(({ reason }) => {
      if (!this.#isJoined && reason.startsWith(parkExpired)) this.push("EX")
      if (this.#isJoined && this.#session !== undefined && !this.readableEnded) this.destroy()
      else this.push(null)
    })
  }

  /** What is written next is the proof, after which this member says no more on the stream of the join. */
  proves(): void {
    this.#isProved = true
  }

  override _read(): void {
    ;(this.#session ?? this.#join).resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.bytesWritten += chunk.length
    if (this.#isJoined) {
      const session = this.#session ?? this.#open()
      if (session !== undefined) session.write(chunk, done)
    } else if (this.#isProved) this.#join.end(chunk, done)
    else this.#join.write(chunk, done)
  }

  override _final(done: Done): void {
    if (this.#session !== undefined) return void this.#session.end(done)
    this.#connection.close()
    done()
  }

  /** What was said last is on its way: the edge closes the connection, or this process ends it. */
  override _destroy(error: Error | null, done: Done): void {
    if (!(this.readableEnded && this.writableFinished)) this.#connection.close()
    done(error)
  }

  #joined(): void {
    this.#isJoined = true
    // The line ends with the stream. What is no acknowledgement is over.
    if (this.#last === undefined || !this.#isProved || this.#said !== "OK") return void this.push(null)
    if (this.#last !== newline) this.push("\n")
  }

  #open(): CarrierStream | undefined {
    const opened = this.#connection.open()
    if (Result.isSuccess(opened)) return this.#attach(opened.success)
    this.destroy()
    return undefined
  }

  #attach(session: CarrierStream): CarrierStream {
    this.#session = session
    this.#read(session)
    session.once("end", () => this.push(null))
    session.once("close", () => {
      if (session.resetBy !== undefined) this.destroy()
    })
    session.resume()
    return session
  }

  #read(stream: CarrierStream): void {
    stream.on("data", (chunk: Buffer) => {
      this.bytesRead += chunk.length
      if (stream === this.#join) this.#look(chunk)
      if (!this.push(chunk)) stream.pause()
    })
  }

  /** The challenge, which comes first, has 32 bytes; the word of the edge behind it begins with `OK`. */
  #look(chunk: Buffer): void {
    this.#last = chunk.at(-1)
    if (this.#isProved && this.#said.length < 2) this.#said = (this.#said + chunk.toString("latin1", 0, 2)).slice(0, 2)
  }
}
