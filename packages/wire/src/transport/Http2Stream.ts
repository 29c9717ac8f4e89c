/** One request of an HTTP/2 client: its body and trailers on to an HTTP/1.1 origin, and the origin's answer back. */
import { Result } from "effect"
import type { ClientRequest, IncomingMessage } from "node:http"
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2"
import { pipeline } from "node:stream"
import { answerFields, answerTrailers, requestTrailers } from "./HttpFields.ts"

/** Requests that one client may have under way. */
export const maxStreams = 128
/** Bytes of a stream: the protocol's default of 64 KiB would hold an upload to one window a round trip. */
export const streamWindow = 256 * 1024

/** We end a stream before its answer has ended; the client does not pay for that. */
export class TornStream extends Error {}

/** Resets the stream. Node never returns from `close` on a stream that waits for trailers, so it must not be used here. */
export const tear = (stream: ServerHttp2Stream): void => void stream.destroy(new TornStream("the answer broke off"))

/** Passes the trailers of a request to its listener, also those that came before it listened. */
type Trailers = (listener: (trailers: IncomingHttpHeaders) => void) => void

/** A request as it arrives. */
export interface Incoming {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly trailers: Trailers
}

/** To be called when the request arrives: Node says trailers once, and does not wait until the body is read. */
export const trailersOf = (stream: ServerHttp2Stream): Trailers => {
  let arrived: IncomingHttpHeaders | undefined
  let listening: ((trailers: IncomingHttpHeaders) => void) | undefined
  stream.once("trailers", (trailers: IncomingHttpHeaders) => {
    arrived = trailers
    listening?.(trailers)
  })
  return (listener) => {
    listening = listener
    if (arrived !== undefined) listener(arrived)
  }
}

/** Sends the body, and behind it the trailers that pass. */
export const sendBody = (
  { stream, trailers }: Incoming,
  outgoing: ClientRequest,
  passes: (name: string) => boolean
): void => {
  if (stream.endAfterHeaders) return void outgoing.end()
  trailers((arrived) => {
    const fields = requestTrailers(arrived, passes)
    // Node refuses what HTTP/1.1 cannot say; the request is whole without it.
    if (fields.length > 0) Result.try(() => outgoing.addTrailers(fields))
  })
  stream.pipe(outgoing)
}

/** Passes early hints on, as long as the answer has not begun. */
export const passHints = (stream: ServerHttp2Stream, outgoing: ClientRequest): void => {
  outgoing.on("information", ({ headers: { link }, statusCode }) => {
    if (statusCode !== 103 || stream.destroyed || stream.headersSent) return
    Result.try(() => stream.additionalHeaders({ ":status": 103, ...(link === undefined ? {} : { link }) }))
  })
}

/** Sends the origin's answer; `refuse` answers in its place when it has no form in HTTP/2. */
export const sendAnswer = (stream: ServerHttp2Stream, incoming: IncomingMessage, refuse: () => void): void => {
  if (stream.destroyed) return void incoming.destroy()
  const hasTrailers = incoming.headers["transfer-encoding"] !== undefined
  // Origins say things that have no form in HTTP/2; that must not end more than this request.
  const begun = Result.try(() => stream.respond(answerFields(incoming), { waitForTrailers: hasTrailers }))
  if (Result.isFailure(begun)) {
    incoming.destroy()
    return refuse()
  }
  if (hasTrailers) {
    stream.on("wantTrailers", () => {
      if (Result.isFailure(Result.try(() => stream.sendTrailers(answerTrailers(incoming))))) tear(stream)
    })
  }
  // It tears the stream when the answer breaks off.
  pipeline(incoming, stream, () => undefined)
}
