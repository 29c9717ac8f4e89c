/**
 * Copies a QUIC stream and a stream of the link into each other; each direction ends, or breaks, by itself. The runtime can stop
 * reading but not reset what it writes: to the peer, a stream that broke here ends (2.9.6).
 * @internal
 */
import type { CarrierStream } from "../../transport/Carrier.ts"
import type { QuicStream } from "./DenoQuic.ts"

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

export const pump = async ({ readable, writable }: QuicStream, stream: CarrierStream): Promise<void> => {
  await Promise.all([inward(readable, stream), outward(stream, writable)])
}
