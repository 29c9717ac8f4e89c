/**
 * A QUIC connection between two members as one stream. If a cut stream could be taken for a complete one, the connection is
 * closed; after both directions have ended it stays open for a while, because neither side knows when its last byte has arrived.
 */
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { Effect } from "effect"
import { Duplex } from "node:stream"

const leaveLimit = "30 seconds"

type Done = (error?: Error | null) => void

export class PeerQuicConnection extends Duplex {
  readonly #connection: QuicConnection
  readonly #stream: CarrierStream
  bytesRead = 0
  bytesWritten = 0

  constructor(connection: QuicConnection, stream: CarrierStream) {
    super({ allowHalfOpen: true })
    this.#connection = connection
    this.#stream = stream
    this.on("error", () => {})
    stream.on("error", () => {})
    stream.on("data", (chunk: Buffer) => {
      this.bytesRead += chunk.length
      if (!this.push(chunk)) stream.pause()
    })
    stream.once("end", () => this.push(null))
    stream.once("close", () => {
      if (stream.resetBy !== undefined) this.destroy()
    })
    void connection.closed.then(() => this.destroy())
  }

  get remoteAddress(): string {
    return this.#connection.remote.address
  }

  override _read(): void {
    this.#stream.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.bytesWritten += chunk.length
    this.#stream.write(chunk, done)
  }

  override _final(done: Done): void {
    this.#stream.end(done)
  }

  override _destroy(error: Error | null, done: Done): void {
    if (!(this.readableEnded && this.writableFinished)) this.#connection.close()
    done(error)
  }
}

/** Ends when the connection may be closed. */
export const left = (link: PeerQuicConnection, connection: QuicConnection) =>
  Effect.promise(() => new Promise((resolve) => void link.once("close", resolve))).pipe(
    Effect.andThen(
      Effect.timeoutOption(
        Effect.promise(() => connection.closed),
        leaveLimit
      )
    )
  )
