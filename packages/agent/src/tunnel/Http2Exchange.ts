/**
 * One request of a client that speaks HTTP/2, carried as HTTP/1.1 to the origin and back, trailers included. CONNECT is not
 * carried. A safe request without a body is asked again when the kept connection it went to broke before any answer.
 */
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Result } from "effect"
import { type ClientRequest, type IncomingMessage, request } from "node:http"
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2"
import { pipeline } from "node:stream"
import { toClient, toOrigin, trailersToClient, trailersToOrigin } from "./Http2Fields.ts"
import { OriginAway, type OriginConnections } from "./OriginConnections.ts"

/** The agent ends a stream before its answer has ended. */
class TornStream extends Error {}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE"])

/** A path and query as they may stand in a request line: nothing but visible ASCII, and no fragment. */
const originForm = /^\/[\x21\x22\x24-\x7e]*$/
const authorityForm = /^[a-z0-9.-]+(?::\d{0,5})?$/i

/** Resets the stream. Node never returns from `close` on a stream that waits for trailers, so it must not be used here. */
const tear = (stream: ServerHttp2Stream) => void stream.destroy(new TornStream("the answer broke off"))

const respond = (stream: ServerHttp2Stream, status: number, sentence: string) => {
  if (stream.destroyed || stream.headersSent) return tear(stream)
  const body = Buffer.from(`${sentence}\n`)
  stream.respond({ ":status": status, "content-type": "text/plain; charset=utf-8", "content-length": body.length })
  stream.end(body)
}

const answer = (stream: ServerHttp2Stream, incoming: IncomingMessage) => {
  const hasTrailers = incoming.headers["transfer-encoding"] !== undefined
  // Origins say things that have no form in HTTP/2; that must not end more than this request.
  const begun = Result.try(() => stream.respond(toClient(incoming), { waitForTrailers: hasTrailers }))
  if (Result.isFailure(begun)) {
    incoming.destroy()
    return respond(stream, 502, "The service gave an answer that HTTP/2 cannot carry.")
  }
  if (hasTrailers) {
    stream.on("wantTrailers", () => {
      if (Result.isFailure(Result.try(() => stream.sendTrailers(trailersToClient(incoming))))) tear(stream)
    })
  }
  // It tears the stream when the answer breaks off.
  return pipeline(incoming, stream, () => undefined)
}

/** Why the request cannot be asked, or the authority that it is for. */
const authorityOf = ({ ":authority": named, ":method": method, ":path": path = "/", host }: IncomingHttpHeaders) => {
  if (method === "CONNECT") return { status: 405, sentence: "CONNECT is not served." }
  const authority = named ?? host ?? ""
  if (!authorityForm.test(authority) || (host !== undefined && host !== authority))
    return { status: 400, sentence: "This request names no host, or two." }
  const isTarget = originForm.test(path) || (path === "*" && method === "OPTIONS")
  return isTarget ? authority : { status: 400, sentence: "The path of this request is malformed." }
}

/** A request as it arrives. */
export interface Incoming {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  /** Passes trailers on, also those that came before they were listened for. */
  readonly trailers: (listener: (trailers: IncomingHttpHeaders) => void) => void
}

const sendBody = ({ stream, trailers }: Incoming, outgoing: ClientRequest) => {
  if (stream.endAfterHeaders) return void outgoing.end()
  trailers((arrived) => {
    const fields = trailersToOrigin(arrived)
    // Node refuses what HTTP/1.1 cannot say; the request is whole without it.
    if (fields.length > 0) Result.try(() => outgoing.addTrailers(fields))
  })
  return void stream.pipe(outgoing)
}

export const exchange = (incoming: Incoming, agent: OriginConnections, onFault: OnFault): void => {
  const { headers, stream } = incoming
  const authority = authorityOf(headers)
  if (typeof authority !== "string") return respond(stream, authority.status, authority.sentence)
  const { ":method": method = "GET", ":path": path = "/" } = headers
  const hasBody = !stream.endAfterHeaders
  const isRepeatable = !hasBody && safeMethods.has(method)

  const ask = (): void => {
    const fields = toOrigin(headers, authority, hasBody)
    const asked = Result.try(() => request({ agent, method, path, headers: fields, setHost: false }))
    if (Result.isFailure(asked)) return respond(stream, 400, "This request has no form in HTTP/1.1.")
    const outgoing = guard(asked.success, onFault)
    const leave = () => {
      if (!outgoing.closed) outgoing.destroy()
    }
    stream.once("close", leave)
    outgoing.on("error", (error) => {
      stream.off("close", leave)
      if (error instanceof OriginAway) respond(stream, 502, "The service behind this name is not there.")
      else if (isRepeatable && outgoing.reusedSocket && !stream.destroyed && !stream.headersSent) ask()
      else respond(stream, 502, "The service behind this name gave no answer.")
    })
    outgoing.on("information", ({ headers: { link }, statusCode }) => {
      if (statusCode !== 103 || stream.destroyed || stream.headersSent) return
      Result.try(() => stream.additionalHeaders({ ":status": 103, ...(link === undefined ? {} : { link }) }))
    })
    outgoing.on("response", (response) => {
      guard(response, onFault)
      if (stream.destroyed) response.destroy()
      else answer(stream, response)
    })
    sendBody(incoming, outgoing)
  }
  ask()
}
