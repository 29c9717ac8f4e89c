/**
 * The control plane as one layer. Another Effect program serves it by providing `Settings`:
 *
 * ```ts
 * Server.layer.pipe(Layer.provide(Settings.layer), Layer.launch, NodeRuntime.runMain)
 * ```
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpRouter, HttpServer, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Docs from "./api/ApiDocs.ts"
import * as CachedResponses from "./fastpath/CachedResponses.ts"
import * as Features from "./Features.ts"
import * as GateRoutes from "./gate/GateRoutes.ts"
import * as Listener from "./http/Listener.ts"
import * as Middleware from "./http/Middleware.ts"
import { RequestMetrics } from "./http/RequestMetrics.ts"
import type { ExtraRoutes } from "./http/Routes.ts"
import { Metrics } from "./observability/Metrics.ts"
import * as MetricsHttp from "./observability/MetricsRoutes.ts"
import { Statuses } from "./observability/Statuses.ts"
import * as PortalAllowlist from "./portal/AllowlistRoutes.ts"
import * as PortalEditor from "./portal/EditorRoutes.ts"
import * as PublicPages from "./portal/legal/LegalRoutes.ts"
import * as PortalEvents from "./portal/live/EventRoutes.ts"
import * as PortalMail from "./portal/MailRoutes.ts"
import * as PortalPages from "./portal/PageRoutes.ts"
import * as PortalRoutes from "./portal/PortalRoutes.ts"
import * as ProblemResponses from "./portal/shell/ProblemResponses.ts"
import * as ReleaseRoutes from "./releases/ReleaseRoutes.ts"
import { Settings } from "./settings/Settings.ts"

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(ControlPlaneApi),
  Docs.layer,
  MetricsHttp.layer,
  PublicPages.layer,
  GateRoutes.layer,
  PortalRoutes.layer,
  PortalPages.layer,
  PortalEvents.layer,
  PortalEditor.layer,
  PortalAllowlist.layer,
  PortalMail.layer,
  ReleaseRoutes.layer
)

/** What is served beside the API value. */
export const extraRoutes: ExtraRoutes = [
  ...Docs.addresses,
  ...MetricsHttp.addresses,
  ...PublicPages.addresses,
  ...GateRoutes.addresses,
  ...PortalRoutes.addresses,
  ...PortalPages.addresses,
  ...PortalEvents.addresses,
  ...PortalEditor.addresses,
  ...PortalAllowlist.addresses,
  ...PortalMail.addresses,
  ...ReleaseRoutes.addresses
]

/** A parameter of a path is read by its schema, whatever its length: a host name may have 253 characters. */
const wholeParameters = { maxParamLength: 16_384 }

const makeApp = Effect.gen(function* () {
  const routed = yield* HttpRouter.toHttpEffect(routes).pipe(
    Effect.provideService(HttpRouter.RouterConfig, wholeParameters)
  )
  const { portalBaseUrl } = yield* Settings
  const traffic = yield* RequestMetrics
  const middleware = Middleware.make({
    extra: extraRoutes,
    origin: portalBaseUrl.origin,
    page: ProblemResponses.asPage,
    traffic
  })
  const { cached, leave } = yield* Statuses
  return {
    handled: middleware(routed),
    cached: yield* CachedResponses.preHandler({ "/status": cached }, traffic),
    leave
  }
})

/**
 * How a request is answered. The services behind it stay out of the context in which requests run, because each request
 * copies that context (docs/decisions/0016).
 */
class App extends Context.Service<
  App,
  {
    readonly handled: Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      never,
      HttpServerRequest.HttpServerRequest | Scope.Scope
    >
    /** Answers a request from memory, before the routes. */
    readonly cached: CachedResponses.PreHandler
    /** Says to a load balancer that the service is about to end. */
    readonly leave: Effect.Effect<void>
  }
>()("server/Server/App") {
  static readonly layer = Layer.effect(App, makeApp).pipe(
    Layer.provide([
      Features.handlers,
      Features.services,
      Metrics.layer.pipe(Layer.provide(Features.services)),
      RequestMetrics.layer,
      NodeHttpServer.layerHttpServices
    ])
  )
}

/** Before the listener closes, the service is not ready for as long as a load balancer needs to see it. */
const leaving = Layer.effectDiscard(
  Effect.gen(function* () {
    const { leave } = yield* App
    const { drainDelaySeconds } = yield* Settings
    yield* Effect.addFinalizer(() => Effect.andThen(leave, Effect.sleep(`${drainDelaySeconds} seconds`)))
  })
)

/** The whole control plane. It listens when every service is built, and finishes running requests when it ends. */
export const layer = Layer.unwrap(
  Effect.map(App, ({ cached, handled }) =>
    leaving.pipe(Layer.provideMerge(HttpServer.serve(handled)), Layer.provideMerge(Listener.layer(cached)))
  )
).pipe(Layer.provide([App.layer, Features.background]))
