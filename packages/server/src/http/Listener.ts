/**
 * The listening socket: limits on how slowly and how much a client may send before anybody looks at it, and a stop that
 * lets running requests finish.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { maxBodyBytes } from "@catenet/domain/api/RequestReading"
import { problemType } from "@catenet/domain/values/Problem"
import { ByteSize, Effect, Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { HttpServerRequest } from "effect/http"
import { Settings } from "../settings/Settings.ts"
import { PreHandledServer } from "../fastpath/PreHandledServer.ts"
import { securedResponses } from "../fastpath/SecuredResponse.ts"
import { trusts } from "./ClientAddresses.ts"
import * as ProxiedConnections from "./ProxiedConnections.ts"
import * as RequestId from "./RequestId.ts"
import type { PreHandler } from "../fastpath/CachedResponses.ts"

/** A problem that is written by hand, because no route has seen the request. */
const problem = (status: number, code: string, title: string, detail: string) =>
  JSON.stringify({ type: problemType(code), title, status, detail, code })

const unread = ["400 Bad Request", problem(400, "NotHttp", "Not HTTP", "This is no request of HTTP/1.1.")] as const

const refusals = new Map<string, readonly [line: string, body: string]>([
  [
    "ERR_HTTP_REQUEST_TIMEOUT",
    ["408 Request Timeout", problem(408, "RequestTimeout", "Request timeout", "The request did not arrive in time.")]
  ],
  [
    "HPE_HEADER_OVERFLOW",
    [
      "431 Request Header Fields Too Large",
      problem(431, "HeadersTooLarge", "Headers too large", "The headers are longer than 16 KiB.")
    ]
  ],
  [
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    [
      "413 Payload Too Large",
      problem(
        413,
        "ChunkExtensionsTooLarge",
        "Chunk extensions too large",
        "The extensions of the chunks are too long."
      )
    ]
  ]
])

/** What cannot be parsed as HTTP never reaches the routes; it is refused in the same format. */
const refusalOf = (code: string | undefined) => {
  const [status, body] = refusals.get(code ?? "") ?? unread
  return `HTTP/1.1 ${status}\r\ncontent-type: application/problem+json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`
}

const unavailable = problem(503, "NotServing", "Not serving", "The service is about to begin, or to end; come again.")

type Responses = ReturnType<typeof securedResponses>

const server = (preHandler: PreHandler, Response: Responses, trustedProxies: ReadonlyArray<string>) => () => {
  const listening = new PreHandledServer(preHandler, {
    ServerResponse: Response,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16 * 1024,
    requireHostHeader: true,
    // Nobody upgrades here; a request to do so behind another one would keep its connection for ever.
    shouldUpgradeCallback: () => false
  })
  if (trustedProxies.length > 0) ProxiedConnections.accept(listening, trusts(trustedProxies))
  listening.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== "ECONNRESET") socket.end(refusalOf(error.code))
    else socket.destroy()
  })
  // The routes come a moment after the port and go a moment before it; whoever asks in between gets an answer.
  return listening.on("request", (_request, response) => {
    if (listening.listenerCount("request") > 1) return
    response.writeHead(503, { "content-type": "application/problem+json", "retry-after": "1" }).end(unavailable)
  })
}

/** The HTTP server on the configured address; it is up when the layer is built. */
export const layer = (preHandler: PreHandler) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { listen, portalBaseUrl, shutdownGraceSeconds, trustedProxies = [] } = yield* Settings
      const nameOf = yield* RequestId.makeNamer
      const Response = securedResponses({
        https: portalBaseUrl.protocol === "https:",
        nameOf
      })
      return NodeHttpServer.layerServer(server(preHandler, Response, trustedProxies), {
        ...listen,
        gracefulShutdownTimeout: `${shutdownGraceSeconds} seconds`
      })
    })
  ).pipe(
    Layer.provide(SecureRandom.layerWebCrypto),
    Layer.provideMerge(Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes)))
  )
