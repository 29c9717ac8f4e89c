/**
 * One request of an HTTP/2 visitor, carried as HTTP/1.1 to the agent and back, trailers included. CONNECT is not carried.
 * A request without a body that may be asked twice is asked again when the kept connection it went to broke before any
 * answer; on a new one the relay does the same.
 */
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
import { hasTwoLengths } from "@catenet/wire/transport/HttpFields"
import type { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import { Result } from "effect"
import type { IncomingMessage, RequestOptions } from "node:http"
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2"
import { readerOf, siteOf } from "../ContentNegotiation.ts"
import { editHeaders } from "../FieldEdits.ts"
import { isTrailer } from "../FieldNames.ts"
import { safeMethods, type Visitor } from "../http1/RequestHead.ts"
import { type ProxyResponse, malformedPage, offlinePage, plainResponse, readBy, silentPage } from "../ProxyPages.ts"
import { tooLarge } from "../rules/RuleGate.ts"
import { toOrigin } from "./Http2Fields.ts"
import { readRequest } from "./Http2Request.ts"
import type { Repeatable } from "./UpstreamPool.ts"

/** The tunnel has no agent that could take the request. */
export class NoAgentServes extends Error {}

/** Answers in the place of the origin, or tears an answer that has begun. */
export const respond = (stream: ServerHttp2Stream, asked: IncomingHttpHeaders, answer: ProxyResponse) => {
  if (stream.destroyed || stream.headersSent) return tear(stream)
  const { body, fields, status } = readBy(
    answer,
    readerOf(asked.accept, asked["accept-language"]),
    siteOf(asked[":authority"])
  )
  stream.respond({ ":status": status, ...fields, "content-length": body.length })
  stream.end(asked[":method"] === "HEAD" ? undefined : body)
}

/** Why the origin did not answer. */
export const respondFailed = (stream: ServerHttp2Stream, asked: IncomingHttpHeaders, error: Error) => {
  const why = malformation(error)
  if (error instanceof NoAgentServes) respond(stream, asked, offlinePage())
  else respond(stream, asked, why === undefined ? silentPage() : malformedPage(why))
}

/**
 * Asks the origin until the stream closes; `leave` does what its close does. Nothing where the request has no form in HTTP/1.1,
 * which has been answered then.
 */
export const askOrigin = (
  { headers, stream }: Incoming,
  request: RequestOptions & Pick<Repeatable, "repeatable">,
  onFault: OnFault
) => {
  let giveUp: (() => void) | undefined
  const asked = Result.try(() => {
    const options: RequestOptions & Repeatable = {
      ...request,
      ...answerOptions,
      setHost: false,
      opening: (drop) => {
        giveUp = drop
      }
    }
    return Http.request(options)
  })
  if (Result.isFailure(asked))
    return void respond(stream, headers, plainResponse(400, "this request has no form in HTTP/1.1"))
  const outgoing = guard(asked.success, onFault)
  outgoing.maxHeadersCount = 0
  const leave = () => {
    if (outgoing.closed) return
    outgoing.destroy()
    giveUp?.()
  }
  stream.once("close", leave)
  return { outgoing, leave }
}

/** The visitor's rules change the fields of answers so. */
export const editing = ({ edits }: Visitor) => {
  const response = edits?.response ?? []
  return response.length === 0 ? undefined : (fields: OutgoingHttpHeaders) => editHeaders(fields, response)
}

/** Answers in the place of the origin once more has come, and gives the request up there. */
const boundBody = ({ headers, stream }: Incoming, most: number, giveUp: () => void) => {
  let bytes = 0
  stream.on("data", (chunk: Buffer) => {
    const wasWithin = bytes <= most
    bytes += chunk.length
    if (bytes <= most || !wasWithin) return
    respond(stream, headers, tooLarge())
    giveUp()
  })
}

export const proxy = (incoming: Incoming, visitor: Visitor, agent: KeepAliveAgent, onFault: OnFault): void => {
  const { headers, stream } = incoming
  const read = readRequest(headers, visitor)
  if (Result.isFailure(read)) return respond(stream, headers, plainResponse(read.failure.status, read.failure.reason))
  const { authority, method, path } = read.success
  const body = !stream.endAfterHeaders
  const repeatable = !body && safeMethods.has(method)

  const ask = (): void => {
    const request = { agent, method, path, headers: toOrigin(headers, visitor, authority, body), repeatable }
    const asked = askOrigin(incoming, request, onFault)
    if (asked === undefined) return
    const { leave, outgoing } = asked
    let isTooLarge = false
    let answer: IncomingMessage | undefined
    outgoing.on("error", (error) => {
      // The answer is whole, or was given here; what follows it belongs to no request.
      if (answer?.complete === true || isTooLarge) return
      stream.off("close", leave)
      const isRepeated = repeatable && outgoing.reusedSocket && !(error instanceof NoAgentServes)
      if (isRepeated && !stream.destroyed && !stream.headersSent) ask()
      else respondFailed(stream, headers, error)
    })
    passHints(stream, outgoing)
    outgoing.on("response", (response) => {
      answer = guard(response, onFault)
      if (hasTwoLengths(response)) outgoing.shouldKeepAlive = false
      const unsayable = `status ${response.statusCode}, or a field that HTTP/2 cannot carry`
      sendAnswer(stream, response, () => respond(stream, headers, malformedPage(unsayable)), editing(visitor))
    })
    const most = visitor.edits?.maxBody
    const refuse = () => {
      isTooLarge = true
      outgoing.destroy()
    }
    if (most !== undefined) boundBody(incoming, most, refuse)
    sendBody(incoming, outgoing, isTrailer)
  }
  ask()
}
