/**
 * One request of a client that speaks HTTP/2, carried as HTTP/1.1 to the origin and back, trailers included. CONNECT is not
 * carried. A safe request without a body is asked again when the kept connection it went to broke before any answer.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Http } from "@catenet/platform/Http"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import {
  answerOptions,
  type Incoming,
  malformation,
  passHints,
  sendAnswer,
  sendBody,
  tear
} from "@catenet/wire/transport/Http2Stream"
import { hasTwoLengths, isTrailer } from "@catenet/wire/transport/HttpFields"
import { Result } from "effect"
import type { IncomingMessage } from "node:http"
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2"
import { toOrigin } from "./Http2Fields.ts"
import { OriginAway, type OriginConnections } from "./OriginConnections.ts"

const safeMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE"])

/** A path and query as they may stand in a request line: nothing but visible ASCII, and no fragment. */
const originForm = /^\/[\x21\x22\x24-\x7e]*$/
const authorityForm = /^[a-z0-9.-]+(?::\d{0,5})?$/i

const respond = (stream: ServerHttp2Stream, status: number, sentence: string) => {
  if (stream.destroyed || stream.headersSent) return tear(stream)
  const body = Buffer.from(`${sentence}\n`)
  stream.respond({ ":status": status, "content-type": "text/plain; charset=utf-8", "content-length": body.length })
  stream.end(body)
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
      // The answer is whole; what follows it belongs to no request.
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
