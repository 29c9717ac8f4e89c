/**
 * An origin that speaks HTTP/2 by prior knowledge (h2c), as gRPC servers do, behind a door that speaks HTTP/1.1. What the proxy of
 * either tier says to an origin is said to the door; trailers and both directions at once pass.
 */
import { Http, type IncomingMessage, type ServerResponse } from "@catenet/platform/Http"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { streamWindow } from "@catenet/wire/transport/Http2Stream"
import { isStructural, isTrailer } from "@catenet/wire/transport/HttpFields"
import { Result } from "effect"
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2"
import type { Duplex } from "node:stream"
import { maxHead } from "../http1/RequestHead.ts"

const http2 = () => process.getBuiltinModule("node:http2")

/** Fields of one head; the default of a client is 128. */
const maxFields = 4_000
/** A session on which nothing is asked is closed after so long. */
const idleMillis = 75_000

/** Sessions to the origin. One more is opened when each has as many streams as the origin allows. */
class Sessions {
  readonly #dial: () => Promise<Duplex>
  readonly #onFault: OnFault
  readonly #open = new Map<ClientHttp2Session, number>()
  #opening: Promise<ClientHttp2Session> | undefined

  constructor(dial: () => Promise<Duplex>, onFault: OnFault) {
    this.#dial = dial
    this.#onFault = onFault
  }

  /** One with room for a stream; rejects with what `dial` says. */
  async take(): Promise<ClientHttp2Session> {
    for (const [session, streams] of this.#open)
      if (!session.closed && streams < (session.remoteSettings?.maxConcurrentStreams ?? 100)) return session
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<ClientHttp2Session> {
    const socket = await this.#dial()
    const session = guard(
      http2().connect("http://origin", {
        createConnection: () => socket,
        maxHeaderListPairs: maxFields,
        settings: { enablePush: false, initialWindowSize: streamWindow, maxHeaderListSize: 4 * maxHead }
      }),
      this.#onFault
    )
    session.on("error", () => undefined)
    session.setTimeout(idleMillis, () => {
      if (this.#open.get(session) === 0) session.close()
    })
    this.#open.set(session, 0)
    session.once("close", () => this.#open.delete(session))
    return session
  }

  request(session: ClientHttp2Session, headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    const stream = guard(session.request(headers, { endStream, waitForTrailers: !endStream }), this.#onFault)
    const count = (by: number) => {
      const streams = this.#open.get(session)
      if (streams !== undefined) this.#open.set(session, streams + by)
    }
    count(1)
    stream.once("close", () => count(-1))
    return stream
  }

  close() {
    for (const session of this.#open.keys()) session.destroy()
  }
}

const headersOf = ({ headers, method = "GET", url = "/" }: IncomingMessage): OutgoingHttpHeaders => ({
  ":method": method,
  ":path": url,
  ":scheme": "http",
  ":authority": headers.host ?? "",
  ...Object.fromEntries(Object.entries(headers).filter(([name]) => name === "content-length" || !isStructural(name))),
  ...(headers.te === "trailers" ? { te: "trailers" } : {})
})

const trailersOf = (trailers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(trailers).filter(([name]) => !name.startsWith(":") && isTrailer(name))) as Record<
    string,
    string
  >

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** The request's body and trailers. One that breaks off is cut at the origin. */
const sendBody = (request: IncomingMessage, stream: ClientHttp2Stream) => {
  stream.on("wantTrailers", () => {
    if (Result.isFailure(Result.try(() => stream.sendTrailers(trailersOf(request.trailers))))) stream.close()
  })
  request.on("data", (chunk: Buffer) => {
    if (!stream.writable) return
    if (!stream.write(chunk)) request.pause()
  })
  stream.on("drain", () => request.resume())
  // What comes after an early answer is read and dropped.
  stream.once("close", () => request.resume())
  request.once("end", () => void stream.end())
}

const begin = (response: ServerResponse, headers: IncomingHttpHeaders, isWhole: boolean) => {
  for (const [name, value] of Object.entries(headers))
    if (!name.startsWith(":") && value !== undefined) response.setHeader(name, value)
  // Without it the end would be a chunk, and a gRPC client would wait for trailers behind it.
  if (isWhole && headers["content-length"] === undefined) response.setHeader("content-length", 0)
  response.writeHead(Number(headers[":status"] ?? 502))
  response.flushHeaders()
}

const exchange = (request: IncomingMessage, response: ServerResponse, stream: ClientHttp2Stream) => {
  let isWhole = false
  stream.on("error", () => undefined)
  stream.on("headers", ({ ":status": status, link }: IncomingHttpHeaders) => {
    if (Number(status) === 103 && link !== undefined && !response.headersSent) response.writeEarlyHints({ link })
  })
  stream.on("response", (headers: IncomingHttpHeaders, flags: number) => {
    isWhole = (flags & http2().constants.NGHTTP2_FLAG_END_STREAM) !== 0
    if (Result.isFailure(Result.try(() => begin(response, headers, isWhole)))) response.destroy()
  })
  stream.on("trailers", (trailers: IncomingHttpHeaders) => response.addTrailers(trailersOf(trailers)))
  stream.on("data", (chunk: Buffer) => {
    if (!response.destroyed && !response.write(chunk)) stream.pause()
  })
  response.on("drain", () => stream.resume())
  stream.once("end", () => {
    // Node ends the readable side of a stream that was reset as well.
    isWhole = isWhole || stream.rstCode === http2().constants.NGHTTP2_NO_ERROR
    if (isWhole && response.headersSent) response.end()
    else response.destroy()
  })
  stream.once("close", () => {
    if (!response.writableEnded) response.destroy()
  })
  response.once("close", () => {
    if (!response.writableFinished || !request.complete) stream.close(http2().constants.NGHTTP2_CANCEL)
  })
  if (hasBody(request)) sendBody(request, stream)
}

export interface Http2Origin {
  /** Resolves where the origin can be asked; rejects with what `dial` said. */
  readonly ready: () => Promise<void>
  readonly close: () => void
}

/** The door is a socket at `path`, for whoever may open that file. */
export const open = async (path: string, dial: () => Promise<Duplex>, onFault: OnFault): Promise<Http2Origin> => {
  const sessions = new Sessions(dial, onFault)
  const server = Http.server({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, maxHeaderSize: maxHead })
  server.maxHeadersCount = 0
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    response.sendDate = false
    response.on("error", () => undefined)
    request.on("error", () => undefined)
    sessions.take().then(
      (session) => {
        if (response.destroyed) return
        const stream = Result.try(() => sessions.request(session, headersOf(request), !hasBody(request)))
        if (Result.isFailure(stream)) response.destroy()
        else exchange(request, response, stream.success)
      },
      () => void response.destroy()
    )
  })
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve))
  return {
    ready: async () => void (await sessions.take()),
    close: () => {
      server.close()
      server.closeAllConnections()
      sessions.close()
    }
  }
}
