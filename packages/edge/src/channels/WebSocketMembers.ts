/**
 * Members on WebSockets, `GET /ws/channel` (data-plane 9). In a browser only pages of the portal may join (`Origin`), so that no
 * other page can use its visitor's keys.
 */
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { Http, STATUS_CODES } from "@catenet/platform/Http"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { longestMessage, WebSocketStream } from "@catenet/wire/transport/WebSocketStream"
import { WebSocketServer, type WebSocket } from "@effect/platform-node/NodeWS"
import { Context, Effect, Layer, Schedule } from "effect"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import { ChannelBroker } from "./ChannelBroker.ts"
import { MemberAdmissions } from "./MemberAdmissions.ts"
import * as MemberConnection from "./MemberConnection.ts"

export const path = "/ws/channel"

const handshakeMillis = 15_000
/** How long the peer may take to close the connection after both close frames; a member in this state is not paired. */
const closing = { closeTimeout: 1_000 }
const pingEvery = "30 seconds"

const pathOf = (url = "") => url.split("?", 1)[0]

const hostOf = (origin: string) => (URL.canParse(origin) ? new URL(origin).hostname : undefined)

const refuse = (socket: Duplex, status: 403 | 404 | 503) =>
  void socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)

const makeState = Effect.gen(function* () {
  const { portal, webSocketMembers } = yield* Settings
  const { ending, report } = yield* ConnectionFaults
  return {
    portal,
    broker: yield* ChannelBroker,
    admissions: yield* MemberAdmissions,
    counters: yield* Counters,
    ending,
    run: yield* makeServe,
    direct: new WeakSet<Duplex>(),
    /** Connections that have not requested a WebSocket yet. */
    asking: new Set<Duplex>(),
    /** Whether each has answered the last ping. */
    open: new Map<WebSocket, boolean>(),
    places: new FairPlaces(webSocketMembers),
    sockets: new WebSocketServer({
      noServer: true,
      clientTracking: false,
      ...closing,
      maxPayload: longestMessage,
      perMessageDeflate: false
    }),
    webSocketMembers,
    report
  }
})
type State = Effect.Success<typeof makeState>

const mayCome = ({ portal }: State, { headers: { origin } }: IncomingMessage) =>
  origin === undefined || (portal !== undefined && hostOf(origin) === portal.host)

const join = (state: State, socket: WebSocket, request: IncomingMessage) => {
  const connection = request.socket
  const carrier = MemberConnection.overWebSocket(
    state.direct.has(connection) ? connection : { address: MemberConnection.namedByProxy(request) }
  )
  const leave = state.places.take(MemberConnection.countedBy(carrier.address), {
    isIdle: () => false,
    evict: () => socket.terminate()
  })
  if (leave === undefined) return socket.terminate()
  state.open.set(socket, true)
  socket.on("pong", () => state.open.set(socket, true))
  socket.once("close", () => {
    state.open.delete(socket)
    leave()
  })
  state.run(new WebSocketStream(socket, state.ending), (stream) => state.broker.serve(stream, carrier))
}

const upgrade = (state: State, request: IncomingMessage, socket: Duplex, head: Buffer) => {
  state.asking.delete(request.socket)
  guard(socket, state.ending(socket))
  socket.on("error", () => undefined)
  if (pathOf(request.url) !== path) return refuse(socket, 404)
  if (!mayCome(state, request)) return refuse(socket, 403)
  const address = state.direct.has(request.socket)
    ? request.socket.remoteAddress
    : MemberConnection.namedByProxy(request)
  if (!state.places.hasRoom(MemberConnection.countedBy(address)) || !state.admissions.takes(address)) {
    state.counters.webSocketSheds += 1
    return refuse(socket, 503)
  }
  return state.sockets.handleUpgrade(request, socket, head, (socket, request) => join(state, socket, request))
}

const inTime = ({ asking }: State, socket: Duplex) =>
  Effect.sync(() => {
    if (asking.delete(socket)) socket.destroy()
  }).pipe(Effect.delay(handshakeMillis))

const ping = ({ open }: State) =>
  Effect.sync(() => {
    for (const [socket, answered] of open) {
      if (!answered) socket.terminate()
      else {
        open.set(socket, false)
        socket.ping()
      }
    }
  })

export class WebSocketMembers extends Context.Service<
  WebSocketMembers,
  {
    /** Serves an HTTP connection, from a member or from a proxy. */
    readonly receive: (socket: Socket, from: "member" | "proxy") => void
    readonly open: () => number
    /** Maximum number of open WebSockets; 0 for no cap. */
    readonly most: number
    /** Whether members are served at all. */
    readonly isServed: boolean
  }
>()("edge/channels/WebSocketMembers") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    /**
     * Node enforces header timeouts only for servers that listen, and this one does not. A connection that requests anything but a
     * WebSocket gets one answer.
     */
    const server = Http.server((request, response) => {
      const isPath = pathOf(request.url) === path
      response.writeHead(isPath ? 426 : 404, { connection: "close", ...(isPath ? { upgrade: "websocket" } : {}) }).end()
    })
    server.on("upgrade", (request, socket, head) => upgrade(state, request, socket, head))
    server.on("clientError", (_error, socket) => void socket.destroy())
    guard(server, state.report)
    yield* Effect.forkScoped(ping(state).pipe(Effect.delay(pingEvery), Effect.repeat(Schedule.forever)))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const socket of state.asking) socket.destroy()
        for (const socket of state.open.keys()) socket.terminate()
      })
    )
    return WebSocketMembers.of({
      receive: (socket, from) => {
        if (from === "member") state.direct.add(socket)
        state.asking.add(socket)
        socket.once("close", () => state.asking.delete(socket))
        state.run(socket, (socket) => inTime(state, socket))
        server.emit("connection", socket)
        socket.resume()
      },
      open: () => state.open.size,
      most: Number.isFinite(state.webSocketMembers) ? state.webSocketMembers : 0,
      isServed: state.admissions.isServed
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([ChannelBroker.layer, MemberAdmissions.layer, Counters.layer, ConnectionFaults.layer])
  )
}
