/** An HTTP server at its own address, for operators and the control plane, not for visitors. */
import { CannotListen } from "@catenet/platform/CannotListen"
import { Http } from "@catenet/platform/Http"
import type { Address } from "@catenet/platform/NetworkParser"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer } from "effect"
import { Etag, HttpRouter, HttpServerError } from "effect/http"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"

/** Services that routes may use. Not all platform services, because those include a terminal, which listens on stdin. */
const httpServices = Layer.mergeAll(NodeHttpPlatform.layer, NodeFileSystem.layer, NodePath.layer, Etag.layerWeak)

/** Serves the routes while the scope is open. Returns the bound address. */
export const serve = Effect.fn("HttpListener.serve")(function* <A, E, R>(
  variable: string,
  address: Address,
  routes: Layer.Layer<A, E, R>
) {
  // Upgrades are not supported; a pipelined upgrade request would otherwise hold its connection forever.
  const server = Http.server({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 65_000,
    shouldUpgradeCallback: () => false
  })
  const { ending } = yield* ConnectionFaults
  server.on("connection", (socket) => guard(socket, ending(socket)))
  const { host, port } = address
  yield* Layer.build(
    HttpRouter.serve(routes, {
      disableLogger: true,
      disableListenLog: true,
      // Path parameters are validated by their schema and not by length: a host name may have 253 characters.
      routerConfig: { maxParamLength: 16_384 }
    }).pipe(
      Layer.provide([
        NodeHttpServer.layerServer(() => server, { host, port, gracefulShutdownTimeout: "1 second" }),
        httpServices
      ])
    )
  ).pipe(
    Effect.catchTag("ServeError", (error) =>
      Effect.fail(CannotListen.of(variable, address, error instanceof HttpServerError.ServeError ? error.cause : error))
    )
  )
  const bound = server.address()
  return { host, port: typeof bound === "object" && bound !== null ? bound.port : port }
})
