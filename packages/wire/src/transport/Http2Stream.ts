/**
 * One request of an HTTP/2 client: its body and trailers on to an HTTP/1.1 origin, and the origin's answer back. A body that the
 * client breaks off is cut at the origin, which would take it for complete if it were ended.
 */
import { Result } from "effect"
import type { ClientRequest, IncomingMessage } from "node:http"
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2"
import { pipeline } from "node:stream"
import { coalesceReads } from "./Coalesce.ts"
import { guarded, type OnFault } from "./FaultBoundary.ts"
import { answerFields, answerTrailers, requestTrailers } from "./HttpFields.ts"
import { lateBodyBytes, lateBodyMillis } from "./LateBody.ts"

/** Requests that one client may have under way. */
export const maxStreams = 128
/** Bytes of a stream: the protocol's default of 64 KiB would hold an upload to one window a round trip. */
export const streamWindow = 256 * 1024

/** Bytes of the longest head of an answer, with any number of fields. */
const longestHead = 64 * 1024
/**
 * For requests to the origin: what its answer may be. Small devices and old scripts end lines without CR, fold them, or send two
 * lengths; what can be read in one way is passed on repaired.
 */
export const answerOptions = { maxHeaderSize: longestHead, insecureHTTPParser: true } as const

/** What Node's parser says about an answer that is not HTTP/1.1. */
export const malformation = (error: Error): string | undefined =>
  "code" in error && typeof error.code === "string" && error.code.startsWith("HPE_") && "reason" in error
    ? String(error.reason)
    : undefined
/** For sessions: a head in HTTP/2 is measured with an allowance for each field. */
export const maxSendHeaderBlockLength = 1024 * 1024

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
  /** The client has sent END_STREAM: the body, or what was read of it, ends as the client meant it. */
  readonly isWhole: () => boolean
}

const trailersOf = (stream: ServerHttp2Stream): Trailers => {
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

/** Node ends the readable side of a stream that was reset as well, but marks the stream as closed before. */
const wholenessOf = (stream: ServerHttp2Stream): (() => boolean) => {
  // The end may have come in one packet with the head, before the stream was announced.
  let whole = stream.endAfterHeaders || stream.state.remoteClose === 1
  if (whole) return () => true
  const push = stream.push.bind(stream)
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null && !stream.closed) whole = true
    return push(chunk, encoding)
  }
  return () => whole
}

/**
 * A request that is answered while its body still arrives: the answer is out, what the client still sends is read within bounds,
 * and then the stream ends without an error (RFC 9113 section 8.1).
 */
const boundLateBody = (stream: ServerHttp2Stream, onFault: OnFault): void => {
  stream.once("finish", () => {
    if (stream.readableEnded || stream.destroyed) return
    let bytes = 0
    const end = guarded(onFault, () => void stream.destroy())
    const timer = setTimeout(end, lateBodyMillis).unref()
    stream.once("close", () => clearTimeout(timer))
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > lateBodyBytes) end()
    })
  })
}

/** To be called when the request arrives: Node says trailers once, and does not wait until the body is read. */
export const arrive = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, onFault: OnFault): Incoming => {
  if (!stream.endAfterHeaders) boundLateBody(stream, onFault)
  return { stream, headers, trailers: trailersOf(stream), isWhole: wholenessOf(stream) }
}

/** Sends the body, and behind it the trailers that pass. What the origin no longer takes is dropped once it has answered. */
export const sendBody = (
  { isWhole, stream, trailers }: Incoming,
  outgoing: ClientRequest,
  passes: (name: string) => boolean
): void => {
  if (stream.endAfterHeaders) return void outgoing.end()
  trailers((arrived) => {
    const fields = requestTrailers(arrived, passes)
    // Node refuses what HTTP/1.1 cannot say; the request is whole without it.
    if (fields.length > 0) Result.try(() => outgoing.addTrailers(fields))
  })
  const isGone = () => outgoing.destroyed || outgoing.closed
  stream.on("data", (chunk: Buffer) => {
    if (!isGone() && !outgoing.write(chunk)) stream.pause()
  })
  const proceed = () => void stream.resume()
  outgoing.on("drain", proceed)
  // A client that waits for an answer before its first byte has asked all the same; what came with the fields goes with them.
  setImmediate(() => {
    if (!isGone() && !outgoing.headersSent) outgoing.flushHeaders()
  })
  outgoing.once("close", () => {
    if (stream.writableFinished) proceed()
    else stream.pause().once("finish", proceed)
  })
  stream.once("end", () => {
    if (isWhole()) outgoing.end()
    else outgoing.destroy()
  })
  outgoing.once("response", (response) => {
    response.once("end", () => {
      if (outgoing.writableEnded || isGone()) return
      // An origin that closes behind its answer reads no more of the body.
      if (!outgoing.shouldKeepAlive) return void outgoing.destroy()
      // Node's client looks no more at the connection of a request that is answered.
      const { socket } = outgoing
      const gone = () => void outgoing.destroy()
      socket?.on("drain", proceed).once("end", gone)
      outgoing.once("close", () => socket?.off("drain", proceed).off("end", gone))
      if (socket?.writableNeedDrain === false) proceed()
    })
  })
}

/** Passes early hints on, as long as the answer has not begun. */
export const passHints = (stream: ServerHttp2Stream, outgoing: ClientRequest): void => {
  outgoing.on("information", ({ headers: { link }, statusCode }) => {
    if (statusCode !== 103 || stream.destroyed || stream.headersSent) return
    Result.try(() => stream.additionalHeaders({ ":status": 103, ...(link === undefined ? {} : { link }) }))
  })
}

const unedited = (fields: OutgoingHttpHeaders) => fields

/** Sends the origin's answer, with its fields edited; `refuse` answers in its place when it has no form in HTTP/2. */
export const sendAnswer = (
  stream: ServerHttp2Stream,
  incoming: IncomingMessage,
  refuse: () => void,
  edit: (fields: OutgoingHttpHeaders) => OutgoingHttpHeaders = unedited
): void => {
  if (stream.destroyed) return void incoming.destroy()
  const hasTrailers = incoming.headers["transfer-encoding"] !== undefined
  // A gRPC client reads the fields of an answer without a body as its trailers only if they are its last frame.
  const endStream = !hasTrailers && incoming.headers["content-length"] === "0"
  // Origins say things that have no form in HTTP/2; that must not end more than this request.
  const begun = Result.try(() =>
    stream.respond(edit(answerFields(incoming)), { waitForTrailers: hasTrailers, endStream })
  )
  if (Result.isFailure(begun)) {
    incoming.destroy()
    return refuse()
  }
  if (endStream) return void incoming.resume()
  if (hasTrailers) {
    stream.on("wantTrailers", () => {
      if (Result.isFailure(Result.try(() => stream.sendTrailers(answerTrailers(incoming))))) tear(stream)
    })
  }
  // It tears the stream when the answer breaks off.
  pipeline(coalesceReads(incoming), stream, () => undefined)
}
