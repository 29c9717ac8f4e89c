/**
 * An origin that speaks HTTP/2, by prior knowledge (h2c) or because it chose so in its TLS handshake, behind a door that speaks
 * HTTP/1.1. What the proxy of either tier says to an origin is said to the door; trailers, both directions at once and upgrades pass.
 */
import { Http, type IncomingMessage, type ServerResponse } from "@catenet/platform/Http"
import { guard, guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { streamWindow } from "@catenet/wire/transport/Http2Stream"
import { isStructural, isTrailer } from "@catenet/wire/transport/HttpFields"
import { Result } from "effect"
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2"
import type { Socket } from "node:net"
import { maxHead } from "../http1/RequestHead.ts"
import { withoutHop } from "./Http2WebSocket.ts"
import { begin, openAtOrigin, upgradeAtOrigin } from "./OriginUpgrades.ts"

const http2 = () => process.getBuiltinModule("node:http2")

/** Fields of one head; the default of a client is 128. */
const maxFields = 4_000
/** A session on which nothing is asked is closed after so long. */
const idleMillis = 75_000
/** From the connection to the origin's first frame. */
const settingsMillis = 5_000

/** How an origin is reached. */
export interface Reach {
  readonly scheme: "http" | "https"
  /** A connection on which the origin speaks HTTP/2, where `speaksHttp2` says so of it. */
  readonly connect: () => Promise<Socket>
  readonly speaksHttp2: (socket: Socket) => boolean
  /** One on which it speaks HTTP/1.1, for upgrades that HTTP/2 does not carry. */
  readonly connectHttp1: () => Promise<Socket>
}

/** Resolves when the origin has sent its settings: a service that does not speak HTTP/2 never does. */
const settled = (session: ClientHttp2Session) =>
  new Promise<void>((resolve, reject) => {
    const closed = () => reject(new Error("it does not speak HTTP/2"))
    session.once("close", closed)
    session.setTimeout(settingsMillis, () => session.destroy())
    session.once("remoteSettings", () => {
      session.off("close", closed)
      resolve()
    })
  })

/** Sessions to the origin. One more is opened when each has as many streams as the origin allows. */
class Sessions {
  readonly #reach: Reach
  readonly #onFault: OnFault
  readonly #open = new Map<ClientHttp2Session, number>()
  #opening: Promise<ClientHttp2Session | Socket> | undefined
  #isHttp2 = true

  constructor(reach: Reach, onFault: OnFault) {
    this.#reach = reach
    this.#onFault = onFault
  }

  /** One with room for a stream, or a connection on which the origin chose HTTP/1.1; rejects with what `connect` says. */
  async take(): Promise<ClientHttp2Session | Socket> {
    for (const [session, streams] of this.#open)
      if (!session.closed && streams < (session.remoteSettings?.maxConcurrentStreams ?? 100)) return session
    if (!this.#isHttp2) return this.#connect()
    if (this.#opening !== undefined) {
      const opened = await this.#opening
      return isSession(opened) ? opened : this.take()
    }
    this.#opening = this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** One with room for a stream; rejects where the origin speaks HTTP/1.1 now. */
  async session(): Promise<ClientHttp2Session> {
    const taken = await this.take()
    if (isSession(taken)) return taken
    taken.destroy()
    throw new Error("it does not speak HTTP/2 any more")
  }

  async #connect(): Promise<ClientHttp2Session | Socket> {
    const socket = await this.#reach.connect()
    this.#isHttp2 = this.#reach.speaksHttp2(socket)
    if (!this.#isHttp2) return socket
    // A session whose origin has ended its side gets no answer any more.
    socket.allowHalfOpen = false
    const session = guard(
      http2().connect(`${this.#reach.scheme}://origin`, {
        createConnection: () => socket,
        maxHeaderListPairs: maxFields,
        settings: { enablePush: false, initialWindowSize: streamWindow, maxHeaderListSize: 4 * maxHead }
      }),
      this.#onFault
    )
    session.on("error", () => undefined)
    await settled(session)
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

const isSession = (taken: ClientHttp2Session | Socket): taken is ClientHttp2Session => "remoteSettings" in taken

const headersOf = (
  { headers, method = "GET", url = "/" }: IncomingMessage,
  scheme: Reach["scheme"]
): OutgoingHttpHeaders => ({
  ":method": method,
  ":path": url,
  ":scheme": scheme,
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
  /**
   * Resolves where the origin can be asked: at the door, or on the connection of its own that this gives, because the origin
   * chose HTTP/1.1 there. Rejects with what `connect` said.
   */
  readonly ready: () => Promise<Socket | undefined>
  readonly close: () => void
}

/** The door is a socket at `path`, for whoever may open that file. */
export const open = async (path: string, reach: Reach, onFault: OnFault): Promise<Http2Origin> => {
  const { scheme } = reach
  const sessions = new Sessions(reach, onFault)
  const server = Http.server({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, maxHeaderSize: maxHead })
  server.maxHeadersCount = 0
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    response.sendDate = false
    response.on("error", () => undefined)
    request.on("error", () => undefined)
    sessions.session().then(
      guarded(onFault, (session) => {
        if (response.destroyed) return
        const stream = Result.try(() => sessions.request(session, headersOf(request, scheme), !hasBody(request)))
        if (Result.isFailure(stream)) response.destroy()
        else exchange(request, response, stream.success)
      }),
      () => void response.destroy()
    )
  })
  server.on("upgrade", (request, client: Socket, first) => {
    client.on("error", () => undefined)
    const refuse = () => void client.destroy()
    const isWebSocket = request.headers.upgrade?.toLowerCase() === "websocket"
    sessions.session().then(
      guarded(onFault, (session) => {
        if (client.destroyed) return
        if (isWebSocket && session.remoteSettings.enableConnectProtocol === true) {
          const fields = { ...withoutHop(headersOf(request, scheme)), ":method": "CONNECT", ":protocol": "websocket" }
          openAtOrigin(request, client, first, () => sessions.request(session, fields, false), onFault)
        } else reach.connectHttp1().then((far) => upgradeAtOrigin(request, client, first, far, onFault), refuse)
      }),
      refuse
    )
  })
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve))
  return {
    ready: async () => {
      const taken = await sessions.take()
      return isSession(taken) ? undefined : taken
    },
    close: () => {
      server.close()
      server.closeAllConnections()
      sessions.close()
    }
  }
}
