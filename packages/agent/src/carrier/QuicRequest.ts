/**
 * Sends a request to an edge on a QUIC stream of its own: the role goes out, everything until the end is the response (data-plane
 * 2.2).
 */
import { encodeQuicRole, type QuicRole } from "@catenet/wire/frames/QuicRole"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import { Effect, Result } from "effect"

const maxBytes = 4_096
const answerMillis = 10_000

/** Undefined if nothing came in time; empty if the stream ended or was reset without a response. */
export const ask = (connection: QuicConnection, role: QuicRole, millis = answerMillis) =>
  Effect.callback<Buffer | undefined>((resume) => {
    const opened = connection.open()
    if (Result.isFailure(opened)) return resume(Effect.undefined)
    const stream = opened.success
    const chunks: Array<Buffer> = []
    let length = 0
    const settle = () => resume(Effect.succeed(connection.isClosed ? undefined : Buffer.concat(chunks)))
    stream.on("error", () => {})
    stream.once("close", settle)
    stream.on("data", (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) return void stream.destroy()
      chunks.push(chunk)
    })
    stream.once("end", settle)
    stream.end(encodeQuicRole(role))
    return Effect.sync(() => void stream.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.undefined }))

/** Whether the edge answered `OK`; undefined if neither `OK` nor `NO`. */
export const admitted = (connection: QuicConnection, role: QuicRole, millis?: number) =>
  Effect.map(ask(connection, role, millis), (reply) => {
    const word = reply?.toString("latin1")
    return word === "OK" ? true : word === "NO" ? false : undefined
  })
