/**
 * Visitors of gelb hosts that speak HTTP/2. Every request becomes an HTTP/1.1 request to the agent, with the same fields
 * added as on HTTP/1; hop-by-hop fields stay where they are. Trailers and CONNECT are not carried.
 */
import { type ClientRequest, type IncomingMessage, request } from "node:http"
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream
} from "node:http2"
import { pipeline } from "node:stream"
import type { TLSSocket } from "node:tls"
import { type Answer, offlinePage, plainAnswer, silentPage } from "./Pages.ts"
import { hostnameOf, OURS, type Visitor, visitorFields } from "./RequestHead.ts"
import { type Connect, TunnelConnections } from "./TunnelConnections.ts"

const MAX_STREAMS = 128
/** The protocol's default of 64 KiB would hold an upload to one window a round trip. */
const STREAM_WINDOW = 256 * 1024
const CONNECTION_WINDOW = 2 * 1024 * 1024
const IDLE_MILLIS = 120_000

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "te",
  "http2-settings"
])

/** The tunnel has no agent that could take the request. */
export class NobodyServes extends Error {}

export interface Http2Options {
  readonly visitor: Visitor
  readonly connect: Connect
  /** An answer the edge gives itself, asked before every request: the window is closed, the host is gone. */
  readonly refusal: () => Answer | undefined
}

const say = (stream: ServerHttp2Stream, { status, fields, body }: Answer) => {
  if (stream.destroyed || stream.headersSent) return void stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  stream.respond({ ":status": status, ...fields, "content-length": body.length })
  stream.end(body)
}

const forwarded = (headers: IncomingHttpHeaders, visitor: Visitor, authority: string): OutgoingHttpHeaders => {
  const kept = Object.entries(headers).filter(
    ([name]) =>
      !name.startsWith(":") && name !== "host" && name !== "expect" && !HOP_BY_HOP.has(name) && !OURS.has(name)
  )
  return { Host: authority, ...Object.fromEntries(kept), ...visitorFields(visitor, authority) }
}

/** Raw pairs, so that repeated fields stay repeated. */
const answered = ({ rawHeaders, statusCode }: IncomingMessage): OutgoingHttpHeaders => {
  const result: Record<string, string | Array<string>> = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase()
    const value = rawHeaders[at + 1] ?? ""
    if (HOP_BY_HOP.has(name)) continue
    const before = result[name]
    result[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return { ...result, ":status": statusCode ?? 502 }
}

const fail = (stream: ServerHttp2Stream) => (error: Error) =>
  say(stream, error instanceof NobodyServes ? offlinePage() : silentPage())

const proxy = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { visitor }: Http2Options,
  agent: TunnelConnections
): ClientRequest | void => {
  const authority = headers[":authority"] ?? headers.host ?? visitor.hostname
  const method = headers[":method"] ?? "GET"
  if (hostnameOf(authority) !== visitor.hostname) {
    return say(stream, plainAnswer(421, `this connection is for ${visitor.hostname}`))
  }
  if (method === "CONNECT") return say(stream, plainAnswer(405, "CONNECT is not served"))
  const outgoing = request({
    agent,
    method,
    path: headers[":path"] ?? "/",
    headers: forwarded(headers, visitor, authority),
    setHost: false
  })
  outgoing.on("error", fail(stream))
  outgoing.on("information", ({ statusCode, headers: early }) => {
    if (statusCode === 103 && !stream.destroyed && !stream.headersSent) {
      stream.additionalHeaders({ ":status": 103, ...(early.link === undefined ? {} : { link: String(early.link) }) })
    }
  })
  outgoing.on("response", (incoming) => {
    if (stream.destroyed) return void incoming.destroy()
    stream.respond(answered(incoming))
    pipeline(incoming, stream, (error) => {
      if (error) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    })
  })
  stream.on("close", () => {
    if (!outgoing.closed) outgoing.destroy()
  })
  if (stream.endAfterHeaders) outgoing.end()
  else stream.pipe(outgoing)
  return outgoing
}

/** Takes the connection over. Returns its session, which closes with it. */
export const serve = (socket: TLSSocket, options: Http2Options): ServerHttp2Session => {
  const session = performServerHandshake(socket, {
    settings: { maxConcurrentStreams: MAX_STREAMS, initialWindowSize: STREAM_WINDOW, enableConnectProtocol: false }
  })
  session.setLocalWindowSize(CONNECTION_WINDOW)
  const agent = new TunnelConnections(options.connect)
  session.on("error", () => undefined)
  // An HTTP/2 connection has no halves: whoever ends it is gone.
  socket.allowHalfOpen = false
  socket.once("end", () => session.destroy())
  session.on("close", () => agent.destroy())
  session.setTimeout(IDLE_MILLIS, () => session.close())
  session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => undefined)
    const refusal = options.refusal()
    if (refusal === undefined) proxy(stream, headers, options, agent)
    else say(stream, refusal)
  })
  return session
}
