/** Opens a WebSocket to the edge as the byte stream on which a member joins. No redirects. */
import { rootCertificates } from "@catenet/platform/Sockets"
import { longestMessage, WebSocketStream } from "@catenet/wire/transport/WebSocketStream"
import { WebSocket } from "@effect/platform-node/NodeWS"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { createConnection, keepAliveMillis, proxyForEdge } from "../../carrier/OutgoingProxy.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { DialFailed, isUntrusted } from "../../tunnel/EdgeDial.ts"

const answers = new Map([
  [401, "a proxy in between wants a login"],
  [403, "the edge does not take members from this place"],
  [404, "there are no channels at this address; check CT_CHANNEL_WEBSOCKET"],
  [407, "a proxy in between wants a login"],
  [503, "the edge has as many members as it takes; try again in a minute"]
])

const describe = (status: number | undefined) =>
  `HTTP ${status ?? "nothing"}${answers.has(status ?? 0) ? `, ${answers.get(status ?? 0)}` : ""}`

/** `root` is trusted beside the roots of the system. */
export const dial = Effect.fn("WebSocketDial.dial")(function* (url: URL, root: string | undefined, millis: number) {
  const { ending } = yield* AgentMetrics
  const edge = url.host
  const port = Number(url.port) || (url.protocol === "wss:" ? 443 : 80)
  const proxy = yield* proxyForEdge({ host: url.hostname.replace(/^\[|\]$/gu, ""), port })
  const roots = root === undefined ? {} : { ca: [...rootCertificates, root] }
  const failed = (why: string, untrusted = false) => Effect.fail(new DialFailed({ edge, why, untrusted }))
  return yield* Effect.callback<{ readonly stream: WebSocketStream; readonly socket: Socket }, DialFailed>((resume) => {
    const webSocket = new WebSocket(url, {
      maxPayload: longestMessage,
      perMessageDeflate: false,
      handshakeTimeout: millis,
      ...roots,
      ...(proxy === undefined ? {} : { createConnection: createConnection(proxy, { url, ...roots }) })
    })
    let socket: Socket | undefined
    webSocket.once("upgrade", (response: IncomingMessage) => {
      socket = response.socket
      socket.setNoDelay(true)
      socket.setKeepAlive(true, keepAliveMillis)
    })
    webSocket.once("unexpected-response", (_request, { statusCode }) => resume(failed(describe(statusCode))))
    webSocket.on("error", (error) => resume(failed(error.message, isUntrusted(error))))
    webSocket.once("open", () => {
      if (socket === undefined) return resume(failed("no connection below the WebSocket"))
      resume(Effect.succeed({ stream: new WebSocketStream(webSocket, ending), socket }))
    })
    return Effect.sync(() => webSocket.terminate())
  }).pipe(Effect.timeoutOrElse({ duration: millis, orElse: () => failed(`no WebSocket within ${millis / 1000} s`) }))
})
