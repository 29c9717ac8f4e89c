/**
 * The QUIC connections of this process. Each has a stream of the link that lives as long as it does and says how it ended; each of
 * its QUIC streams is one stream of the link.
 * @internal
 */
import { Result } from "effect"
import type { CarrierStream } from "../../transport/Carrier.ts"
import type { FrameReader } from "../../transport/FrameReader.ts"
import type { Mux } from "../../transport/Mux.ts"
import { decode, encode } from "../link/LinkFrame.ts"
import type { Closing, Connection, QuicStream } from "./DenoQuic.ts"

/**
 * Copies a QUIC stream and a stream of the link into each other; each direction ends, or breaks, by itself. The runtime can stop
 * reading but not reset what it writes: to the peer, a stream that broke here ends (2.9.6).
 * @internal
 */
const drained = (stream: CarrierStream) =>
  new Promise<void>((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done)
      resolve()
    }
    stream.once("drain", done).once("close", done)
  })

const inward = async (from: ReadableStream<Uint8Array>, to: CarrierStream) => {
  const reader = from.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  to.once("close", stop)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (to.destroyed) return
      if (!to.write(value)) await drained(to)
    }
    to.end()
  } catch {
    to.reset("lost", "the QUIC stream was reset")
  } finally {
    to.off("close", stop)
  }
}

const outward = async (from: CarrierStream, to: WritableStream<Uint8Array>) => {
  const writer = to.getWriter()
  try {
    // The other direction may go on for longer.
    for await (const chunk of from.iterator({ destroyOnReturn: false })) await writer.write(chunk as Uint8Array)
    await writer.close()
  } catch {
    await writer.abort().catch(() => undefined)
    from.reset("lost", "the QUIC stream was reset")
  }
}

const pump = async ({ readable, writable }: QuicStream, stream: CarrierStream): Promise<void> => {
  await Promise.all([inward(readable, stream), outward(stream, writable)])
}

/** The runtime's text of an idle timeout. */
const idleTimeout = "timed out"

/** What ends a connection whose program has gone or asks for nothing more. */
const ended: Closing = { closeCode: 0, reason: "" }

export class QuicConnections {
  readonly #link: Mux
  readonly #open = new Map<number, Connection>()

  constructor(link: Mux) {
    this.#link = link
  }

  /** Holds the connection until it or its control stream has ended. */
  async hold(control: CarrierStream, reader: FrameReader, connection: Connection): Promise<void> {
    this.#open.set(control.id, connection)
    const { hostname: address, port } = connection.remoteAddr
    control.write(encode({ _tag: "Connected", remote: { address, port } }))
    void this.#obey(control, reader, connection)
    void this.#takeStreams(control.id, connection)
    // It is rejected where no close frame has ended it, and the runtime gives no code for why.
    const { closeCode, isIdle, reason } = await connection.closed.catch((error: unknown): Closing => {
      const reason = error instanceof Error ? error.message : ""
      return { closeCode: 0, reason, isIdle: reason === idleTimeout }
    })
    this.#open.delete(control.id)
    if (!control.destroyed)
      control.end(
        encode({ _tag: "Close", code: closeCode, reason: reason.slice(0, 512), ...(isIdle === true && { isIdle }) })
      )
    control.resume()
  }

  /** The program opened a stream on a connection. */
  async carry(number: number, stream: CarrierStream): Promise<void> {
    const connection = this.#open.get(number)
    if (connection === undefined) return stream.reset("lost", "the connection has ended")
    try {
      await pump(await connection.createBidirectionalStream(), stream)
    } catch {
      stream.reset("full", "the connection takes no more streams")
    }
  }

  async #obey(control: CarrierStream, reader: FrameReader, connection: Connection): Promise<void> {
    const asked = await reader.next(decode)
    const closing =
      Result.isSuccess(asked) && asked.success._tag === "Close"
        ? { closeCode: asked.success.code, reason: asked.success.reason }
        : ended
    connection.close(closing)
    reader.release()
    control.resume()
  }

  async #takeStreams(number: number, connection: Connection): Promise<void> {
    try {
      for await (const stream of connection.incomingBidirectionalStreams) {
        const opened = this.#link.open({ registration: 0, kind: "mesh", tls: "none" })
        if (Result.isFailure(opened)) {
          void stream.readable.cancel().catch(() => undefined)
          void stream.writable.abort().catch(() => undefined)
          continue
        }
        opened.success.write(encode({ _tag: "Stream", connection: number }))
        void pump(stream, opened.success)
      }
    } catch {
      // The connection has ended, which its own promise says.
    }
  }
}
