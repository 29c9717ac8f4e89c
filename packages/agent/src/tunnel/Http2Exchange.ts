/**
 * Carries one HTTP/2 request as HTTP/1.1 to the origin and back, with trailers. CONNECT is not carried. A safe request without a
 * body is retried if its kept connection broke before any response.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Http } from "@catenet/platform/Http"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { originCookies } from "@catenet/wire/transport/GateCookies"
import {
  answerOptions,
  type Incoming,
  malformation,
  passHints,
  sendAnswer,
  sendBody,
  tear
} from "@catenet/wire/transport/Http2Stream"
import { hasTwoLengths, hyphenated, isStructural, isTrailer } from "@catenet/wire/transport/HttpFields"
import { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import { Result } from "effect"
import type { ClientRequestArgs, IncomingMessage } from "node:http"
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2"
import type { Duplex } from "node:stream"

/** HTTP/1.1 connections to the origin for one client that speaks HTTP/2: kept alive and used again, never shared between clients. */
type Opened = (error: Error | null, stream: Duplex) => void

/** Dials the origin and reports the result, unless aborted before. */
type Connect = (opened: (error: Error | null, socket: Duplex | undefined) => void) => void

/** A request is answered, not retried, if its origin is down. */
export class OriginAway extends Error {}

export class OriginConnections extends KeepAliveAgent {
  readonly #connect: Connect

  constructor(connect: Connect) {
    super()
    this.#connect = connect
  }

  override createConnection(_options: ClientRequestArgs, opened?: Opened): undefined {
    this.#connect((error, socket) => {
      // Node's types want a stream with the error, Node itself does not look at it.
      if (opened !== undefined) opened(error, socket as Duplex)
      else socket?.destroy()
    })
    return undefined
  }
}

/**
 * Maps an HTTP/2 request's fields for an HTTP/1.1 origin. Nothing is added; fields and cookies that only a login gate may set are
 * removed.
 */
const passes = (name: string) =>
  !name.startsWith(":") &&
  !isStructural(name) &&
  name !== "cookie" &&
  hyphenated(name) !== "expect" &&
  !hyphenated(name).startsWith("x-gate-")

/** The request's fields for the origin. A body without a length is chunked. */
const toOrigin = (headers: IncomingHttpHeaders, authority: string, hasBody: boolean): OutgoingHttpHeaders => {
  const length = headers["content-length"]
  const cookie = headers.cookie === undefined ? undefined : originCookies(headers.cookie)
  return {
    host: authority,
    ...(length === undefined ? {} : { "content-length": length }),
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => passes(name))),
    ...(cookie === undefined ? {} : { cookie }),
    ...(hasBody && length === undefined ? { "transfer-encoding": "chunked" } : {}),
    ...(headers["te"] === "trailers" ? { te: "trailers", connection: "te" } : {})
  }
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE"])

/** A path and query valid in a request line: visible ASCII without a fragment. */
const originForm = /^\/[\x21\x22\x24-\x7e]*$/
const authorityForm = /^[a-z0-9.-]+(?::\d{0,5})?$/i

const respond = (stream: ServerHttp2Stream, status: number, sentence: string) => {
  if (stream.destroyed || stream.headersSent) return tear(stream)
  const body = Buffer.from(`${sentence}\n`)
  stream.respond({ ":status": status, "content-type": "text/plain; charset=utf-8", "content-length": body.length })
  stream.end(body)
}

/** Why the request is invalid, or its authority. */
const authorityOf = ({ ":authority": named, ":method": method, ":path": path = "/", host }: IncomingHttpHeaders) => {
  if (method === "CONNECT") return { status: 405, sentence: "CONNECT is not served." }
  const authority = named ?? host ?? ""
  if (!authorityForm.test(authority) || (host !== undefined && host !== authority))
    return { status: 400, sentence: "This request names no host, or two." }
  const isTarget = originForm.test(path) || (path === "*" && method === "OPTIONS")
  return isTarget ? authority : { status: 400, sentence: "The path of this request is malformed." }
}

const malformed = (why: string) =>
  `The service behind this name sent an answer that is not valid HTTP/1.1: ${clause(why)}.`

export const exchange = (incoming: Incoming, agent: OriginConnections, onFault: OnFault): void => {
  const { headers, stream } = incoming
  const authority = authorityOf(headers)
  if (typeof authority !== "string") return respond(stream, authority.status, authority.sentence)
  const { ":method": method = "GET", ":path": path = "/" } = headers
  const hasBody = !stream.endAfterHeaders
  const isRepeatable = !hasBody && safeMethods.has(method)

  const ask = (): void => {
    const fields = toOrigin(headers, authority, hasBody)
    const asked = Result.try(() =>
      Http.request({ agent, ...answerOptions, method, path, headers: fields, setHost: false })
    )
    if (Result.isFailure(asked)) return respond(stream, 400, "This request has no form in HTTP/1.1.")
    const outgoing = guard(asked.success, onFault)
    outgoing.maxHeadersCount = 0
    const leave = () => {
      if (!outgoing.closed) outgoing.destroy()
    }
    stream.once("close", leave)
    let answer: IncomingMessage | undefined
    outgoing.on("error", (error) => {
      // The response is complete; further data belongs to no request.
      if (answer?.complete === true) return
      stream.off("close", leave)
      const why = malformation(error)
      if (error instanceof OriginAway) respond(stream, 502, "The service behind this name is not there.")
      else if (isRepeatable && outgoing.reusedSocket && !stream.destroyed && !stream.headersSent) ask()
      else respond(stream, 502, why === undefined ? "The service behind this name gave no answer." : malformed(why))
    })
    passHints(stream, outgoing)
    outgoing.on("response", (response) => {
      answer = guard(response, onFault)
      if (hasTwoLengths(response)) outgoing.shouldKeepAlive = false
      const unsayable = `status ${response.statusCode}, or a field that HTTP/2 cannot carry`
      sendAnswer(stream, response, () => respond(stream, 502, malformed(unsayable)))
    })
    sendBody(incoming, outgoing, isTrailer)
  }
  ask()
}
