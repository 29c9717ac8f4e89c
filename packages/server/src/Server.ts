/**
 * The control plane as one layer. Another Effect program serves it by providing `Settings`:
 *
 * ```ts
 * Server.layer.pipe(Layer.provide(Settings.layer), Layer.launch, NodeRuntime.runMain)
 * ```
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Features from "./Features.ts"
import * as GateRoutes from "./gate/GateRoutes.ts"
import * as Docs from "./api/ApiDocs.ts"
import * as Handlers from "./http/Handlers.ts"
import * as Listener from "./http/Listener.ts"
import type { Extra } from "./http/Routes.ts"
import * as Shell from "./http/Middleware.ts"
import * as Standing from "./http/CachedResponses.ts"
import * as MetricsHttp from "./observability/MetricsRoutes.ts"
import { Metrics } from "./observability/Metrics.ts"
import { Traffic } from "./http/RequestMetrics.ts"
import * as PublicPages from "./portal/legal/LegalRoutes.ts"
import * as PortalForms from "./portal/FormRoutes.ts"
import * as PortalRoutes from "./portal/PortalRoutes.ts"
import { Sealing } from "./store/Sealing.ts"
import { Settings } from "./settings/Settings.ts"
import { Statuses } from "./observability/Statuses.ts"
import * as Database from "./store/Database.ts"

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(ControlPlaneApi),
  Docs.layer,
  MetricsHttp.layer,
  PublicPages.layer,
  GateRoutes.layer,
  PortalRoutes.layer,
  PortalForms.layer
)

/** What is served beside the API value. */
const extra: Extra = [
  ...Docs.addresses,
  ...MetricsHttp.addresses,
  ...PublicPages.addresses,
  ...GateRoutes.addresses,
  ...PortalRoutes.addresses,
  ...PortalForms.addresses
]

/** A parameter of a path is read by its schema, whatever its length: a host name may have 253 characters. */
const wholeParameters = { maxParamLength: 16_384 }

/** Listens once every feature stands: a request that is accepted is answered. */
const serving = Layer.unwrap(
  Effect.gen(function* () {
    const app = yield* HttpRouter.toHttpEffect(routes).pipe(
      Effect.provideService(HttpRouter.RouterConfig, wholeParameters)
    )
    const { portalBaseUrl } = yield* Settings
    const shell = Shell.make({ extra, origin: portalBaseUrl.origin, traffic: yield* Traffic })
    const front = yield* Standing.front({ "/status": (yield* Statuses).standing })
    return Handlers.lean(HttpServer.serve(shell(app))).pipe(Layer.provideMerge(Listener.layer(front)))
  })
)

/** The whole control plane. It listens when the layer is built, and finishes running requests when it ends. */
export const layer = serving.pipe(
  Layer.provide(Metrics.layer),
  Layer.provide(Traffic.layer),
  Layer.provide(Features.layer),
  Layer.provide(NodeHttpServer.layerHttpServices),
  Layer.provide(Database.layer),
  Layer.provide(Sealing.layer.pipe(Layer.provide(NodeFileSystem.layer)))
)
