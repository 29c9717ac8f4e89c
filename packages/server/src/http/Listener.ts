/**
 * The listening socket: limits on how slowly and how much a client may send before a route sees it, and a stop that
 * lets running requests finish.
 */
import { maxBodyBytes } from "@catenet/domain/api/RequestReading"
import {
  ChunkExtensionsTooLarge,
  HeadersTooLarge,
  maxHeaderBytes,
  NotHttp,
  NotServing,
  RequestTimeout
} from "@catenet/domain/values/RequestErrors"
import { CannotListen } from "@catenet/platform/CannotListen"
import { trusts } from "@catenet/platform/ForwardedChain"
import { STATUS_CODES } from "@catenet/platform/Http"
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Context, Effect, Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { HttpServer, HttpServerRequest, HttpServerRespondable } from "effect/http"
import type { Server, Socket } from "node:net"
import type { PreHandler } from "../fastpath/CachedResponses.ts"
import { PreHandledServer } from "../fastpath/PreHandledServer.ts"
import { securedResponses } from "../fastpath/SecuredResponse.ts"
import { Settings } from "../settings/Settings.ts"
import * as GracefulClose from "./GracefulClose.ts"
import * as ProxiedConnections from "./ProxiedConnections.ts"
import * as RequestId from "./RequestId.ts"

// Further sockets that listen at the address of a server. Node takes one connection from each for a turn of its event loop, so
// that with many clients those who come at once wait for one another; the system spreads them over the sockets.

/** Beside the server's own. */
const extraSockets = 15

const stop = (server: Server) => Effect.sync(() => void (server.listening && server.close()))

/** With the options that Node gives the socket of an HTTP server. */
const opened = (address: Address, reusePort: boolean, onConnection: (socket: Socket) => void) =>
  Effect.callback<Server, CannotListen>((resume) => {
    const server = Sockets.tcpServer({ allowHalfOpen: true, noDelay: true }, onConnection)
    server.once("error", (error) => resume(Effect.fail(CannotListen.of("CT_CONTROL_PLANE_LISTEN", address, error))))
    server.listen({ ...address, reusePort }, () => {
      server.removeAllListeners("error")
      // It could not take one connection.
      server.on("error", () => {})
      resume(Effect.succeed(server))
    })
  })

const closed = (server: Server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))

const refuse = (socket: Socket) => void socket.destroy()

/**
 * Whether the server may share its address with further sockets. Fails when another program listens there already: it would get
 * a part of the connections without an error.
 */
const canShare = Effect.fn("Listener.canShare")(function* (address: Address) {
  yield* Effect.scoped(Effect.acquireRelease(opened(address, false, refuse), closed))
  const any = { host: address.host, port: 0 }
  return yield* Effect.scoped(Effect.acquireRelease(opened(any, true, refuse), closed)).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
})

/** Opens them until the scope closes; they are closed before that by who closes the server. */
const openExtraSockets = (address: Address, onConnection: (socket: Socket) => void) =>
  Effect.replicateEffect(Effect.acquireRelease(opened(address, true, onConnection), stop), extraSockets)

interface Refusals {
  /** What is sent to a connection whose bytes are no request, by Node's code of the error. */
  readonly of: (code: string | undefined) => string
  /** The body while the routes are not there. */
  readonly notServing: string
}

/** A problem as the routes write it, for a request that no route has seen. */
const bodyOf = (problem: HttpServerRespondable.Respondable) =>
  Effect.map(HttpServerRespondable.toResponse(problem), ({ body }) =>
    body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  )

const refusal = (problem: HttpServerRespondable.Respondable & { readonly status: number }) =>
  Effect.map(
    bodyOf(problem),
    (body) =>
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\ncontent-type: application/problem+json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  )

const makeRefusals = Effect.gen(function* () {
  const unread = yield* refusal(new NotHttp())
  const refusals = new Map([
    ["ERR_HTTP_REQUEST_TIMEOUT", yield* refusal(new RequestTimeout())],
    ["HPE_HEADER_OVERFLOW", yield* refusal(new HeadersTooLarge())],
    ["HPE_CHUNK_EXTENSIONS_OVERFLOW", yield* refusal(new ChunkExtensionsTooLarge())]
  ])
  const of = (code: string | undefined) => refusals.get(code ?? "") ?? unread
  return { of, notServing: yield* bodyOf(new NotServing()) } satisfies Refusals
})

/** Of the time in which requests may finish: how long an idle connection may still send one, a second at most. */
const idleMillis = (graceSeconds: number) => Math.min(1_000, graceSeconds * 100)

interface Behavior {
  readonly preHandler: PreHandler
  readonly https: boolean
  readonly nameOf: (given: unknown) => string
  readonly refusals: Refusals
  readonly trustedProxies: ReadonlyArray<string>
  readonly graceSeconds: number
  /** What takes connections for the server beside itself. */
  readonly further: ReadonlyArray<Server>
}

const serverOf = ({ further, graceSeconds, https, nameOf, preHandler, refusals, trustedProxies }: Behavior) => {
  const Response = securedResponses({ https, nameOf, isOpen: () => listening.listening })
  const listening: PreHandledServer<typeof Response> = new PreHandledServer(preHandler, {
    ServerResponse: Response,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: maxHeaderBytes,
    requireHostHeader: true,
    // No route upgrades; a request to do so behind another one would keep its connection for ever.
    shouldUpgradeCallback: () => false
  })
  GracefulClose.attach(listening, idleMillis(graceSeconds), further)
  if (trustedProxies.length > 0) ProxiedConnections.accept(listening, trusts(trustedProxies))
  listening.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== "ECONNRESET") socket.end(refusals.of(error.code))
    else socket.destroy()
  })
  // The routes come a moment after the port and go a moment before it; a request in between gets a response.
  return listening.on("request", (_request, response) => {
    if (listening.listenerCount("request") > 1) return
    response.writeHead(503, { "content-type": "application/problem+json", "retry-after": "1" }).end(refusals.notServing)
  })
}

/** The HTTP server on the configured address; it is up when the layer is built. */
export const layer = (preHandler: PreHandler) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { listen, portalBaseUrl, shutdownGraceSeconds, trustedProxies = [] } = yield* Settings
      const nameOf = yield* RequestId.makeNamer
      const further: Array<Server> = []
      const server = serverOf({
        preHandler,
        https: portalBaseUrl.protocol === "https:",
        nameOf,
        refusals: yield* makeRefusals,
        trustedProxies,
        graceSeconds: shutdownGraceSeconds,
        further
      })
      const reusePort = yield* canShare(listen)
      return NodeHttpServer.layerServer(() => server, {
        ...listen,
        reusePort,
        gracefulShutdownTimeout: `${shutdownGraceSeconds} seconds`
      }).pipe(
        Layer.catchTag("ServeError", ({ cause }) =>
          Layer.effectContext(Effect.fail(CannotListen.of("CT_CONTROL_PLANE_LISTEN", listen, cause)))
        ),
        Layer.tap((context) => {
          const { address } = Context.get(context, HttpServer.HttpServer)
          if (!reusePort || !("port" in address)) return Effect.void
          const give = (socket: Socket) => void server.emit("connection", socket)
          return Effect.map(openExtraSockets({ host: listen.host, port: address.port }, give), (sockets) => {
            further.push(...sockets)
          })
        })
      )
    })
  ).pipe(
    Layer.provide(SecureRandom.layerWebCrypto),
    Layer.provideMerge(Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes)))
  )
