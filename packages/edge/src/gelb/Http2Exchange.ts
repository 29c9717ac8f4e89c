/**
 * One request of an HTTP/2 visitor, carried as HTTP/1.1 to the agent and back, trailers included. CONNECT is not carried.
 * A request without a body that may be asked twice is asked again when the kept connection it went to broke before any
 * answer; on a new one the relay does the same.
 */
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Result } from "effect"
import { type ClientRequest, type IncomingMessage, request, type RequestOptions } from "node:http"
import { type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2"
import { pipeline } from "node:stream"
import { toOrigin, toVisitor, trailersToOrigin, trailersToVisitor } from "./Http2Fields.ts"
import { readRequest } from "./Http2Request.ts"
import { readerOf } from "./PageReader.ts"
import { type EdgeResponse, offlinePage, plainResponse, readBy, silentPage } from "./Pages.ts"
import { safeMethods, type Visitor } from "./RequestHead.ts"
import type { Repeatable, TunnelConnections } from "./TunnelConnections.ts"

/** The tunnel has no agent that could take the request. */
export class NoAgentServes extends Error {}

/** The edge ends a stream before its answer has ended; the visitor does not pay for that. */
export class TornStream extends Error {}

/** Resets the stream. Node never returns from `close` on a stream that waits for trailers, so it must not be used here. */
const tear = (stream: ServerHttp2Stream) => void stream.destroy(new TornStream("the answer broke off"))

/** Answers in the place of the origin, or tears an answer that has begun. */
export const respond = (stream: ServerHttp2Stream, asked: IncomingHttpHeaders, answer: EdgeResponse) => {
  if (stream.destroyed || stream.headersSent) return tear(stream)
  const { body, fields, status } = readBy(answer, readerOf(asked.accept, asked["accept-language"]))
  stream.respond({ ":status": status, ...fields, "content-length": body.length })
  stream.end(body)
}

const answer = ({ headers, stream }: Incoming, incoming: IncomingMessage) => {
  const trailers = incoming.headers["transfer-encoding"] !== undefined
  // Origins say things that have no form in HTTP/2; that must not end more than this request.
  const begun = Result.try(() => stream.respond(toVisitor(incoming), { waitForTrailers: trailers }))
  if (Result.isFailure(begun)) {
    incoming.destroy()
    return respond(stream, headers, silentPage())
  }
  if (trailers) {
    stream.on("wantTrailers", () => {
      if (Result.isFailure(Result.try(() => stream.sendTrailers(trailersToVisitor(incoming))))) tear(stream)
    })
  }
  // It tears the stream when the answer breaks off.
  return pipeline(incoming, stream, () => undefined)
}

/** Passes the trailers of a request to its listener, also those that came before it listened. */
export type Trailers = (listener: (trailers: IncomingHttpHeaders) => void) => void

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

const sendBody = ({ stream, trailers }: Incoming, outgoing: ClientRequest) => {
  if (stream.endAfterHeaders) return void outgoing.end()
  trailers((arrived) => {
    const fields = trailersToOrigin(arrived)
    // Node refuses what HTTP/1.1 cannot say; the request is whole without it.
    if (fields.length > 0) Result.try(() => outgoing.addTrailers(fields))
  })
  return void stream.pipe(outgoing)
}

/** A request as it arrives. */
export interface Incoming {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly trailers: Trailers
}

export const proxy = (incoming: Incoming, visitor: Visitor, agent: TunnelConnections, onFault: OnFault): void => {
  const { headers, stream } = incoming
  const read = readRequest(headers, visitor)
  if (Result.isFailure(read)) return respond(stream, headers, plainResponse(read.failure.status, read.failure.reason))
  const { authority, method, path } = read.success
  const body = !stream.endAfterHeaders
  const repeatable = !body && safeMethods.has(method)

  const ask = (): void => {
    let giveUp: (() => void) | undefined
    const asked = Result.try(() => {
      const options: RequestOptions & Repeatable = {
        agent,
        method,
        path,
        headers: toOrigin(headers, visitor, authority, body),
        setHost: false,
        repeatable,
        opening: (drop) => {
          giveUp = drop
        }
      }
      return request(options)
    })
    if (Result.isFailure(asked))
      return respond(stream, headers, plainResponse(400, "this request has no form in HTTP/1.1"))
    const outgoing = guard(asked.success, onFault)
    const leave = () => {
      if (outgoing.closed) return
      outgoing.destroy()
      giveUp?.()
    }
    stream.once("close", leave)
    outgoing.on("error", (error) => {
      stream.off("close", leave)
      if (error instanceof NoAgentServes) respond(stream, headers, offlinePage())
      else if (repeatable && outgoing.reusedSocket && !stream.destroyed && !stream.headersSent) ask()
      else respond(stream, headers, silentPage())
    })
    outgoing.on("information", ({ statusCode, headers: { link } }) => {
      if (statusCode !== 103 || stream.destroyed || stream.headersSent) return
      Result.try(() => stream.additionalHeaders({ ":status": 103, ...(link === undefined ? {} : { link }) }))
    })
    outgoing.on("response", (response) => {
      guard(response, onFault)
      if (stream.destroyed) response.destroy()
      else answer(incoming, response)
    })
    sendBody(incoming, outgoing)
  }
  ask()
}
