/** All routes as one handler, with problems for failures, pages for browsers, and counts of responses around them. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Docs from "./api/ApiDocs.ts"
import * as Mcp from "./api/McpRoutes.ts"
import * as CachedResponses from "./fastpath/CachedResponses.ts"
import * as GateRoutes from "./gate/GateRoutes.ts"
import * as Middleware from "./http/Middleware.ts"
import { RequestMetrics } from "./http/RequestMetrics.ts"
import { noting, type RouteTable } from "./http/RouteTable.ts"
import { Metrics } from "./observability/Metrics.ts"
import * as MetricsHttp from "./observability/Metrics.ts"
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
  Mcp.layer,
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

/** A parameter of a path is read by its schema, whatever its length: a host name may have 253 characters. */
const wholeParameters = { maxParamLength: 16_384 }

const makeApp = Effect.gen(function* () {
  // A router of its own: a host program that is built with the same layers has one, too.
  const table: Array<RouteTable[number]> = []
  const routed = yield* HttpRouter.toHttpEffect(Layer.provide(routes, noting(table))).pipe(
    Effect.provideService(HttpRouter.RouterConfig, wholeParameters),
    Effect.provideService(Layer.CurrentMemoMap, yield* Layer.makeMemoMap)
  )
  const { portalBaseUrl } = yield* Settings
  const traffic = yield* RequestMetrics
  const middleware = Middleware.make({
    origin: portalBaseUrl.origin,
    page: ProblemResponses.asPage,
    routes: table,
    traffic
  })
  const { cached, leave } = yield* Statuses
  return {
    handled: middleware(routed),
    routes: table,
    cached: yield* CachedResponses.preHandler({ "/status": cached }, traffic),
    leave
  }
})

/**
 * How a request is answered. The services behind it stay out of the context in which requests run, because each request
 * copies that context (docs/decisions/0016).
 */
export class App extends Context.Service<
  App,
  {
    readonly handled: Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      never,
      HttpServerRequest.HttpServerRequest | Scope.Scope
    >
    /** The routes of the API, and those that browsers visit. */
    readonly routes: RouteTable
    /** Answers a request from memory, before the routes. */
    readonly cached: CachedResponses.PreHandler
    /** Says to a load balancer that the service is about to end. */
    readonly leave: Effect.Effect<void>
  }
>()("server/App") {
  static readonly layer = <S, SE, SR, H, HE, HR>(services: Layer.Layer<S, SE, SR>, handlers: Layer.Layer<H, HE, HR>) =>
    Layer.effect(App, makeApp).pipe(
      Layer.provide([
        handlers,
        services,
        Metrics.layer.pipe(Layer.provide(services)),
        RequestMetrics.layer,
        NodeHttpServer.layerHttpServices
      ])
    )
}
