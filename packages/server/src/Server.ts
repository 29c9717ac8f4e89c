/**
 * The control plane as a library: as a layer that listens on its own port, or as routes of a host program's router.
 *
 * ```ts
 * Server.layer.pipe(Layer.provide(Settings.layer), Layer.launch, NodeRuntime.runMain)
 * ```
 */
import type * as Access from "@catenet/domain/api/Access"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { App } from "./App.ts"
import { nameRequest, securityHeaders } from "./fastpath/SecuredResponse.ts"
import * as Features from "./Features.ts"
import * as Listener from "./http/Listener.ts"
import * as RequestId from "./http/RequestId.ts"
import * as AccountAccess from "./identity/AccountAccess.ts"
import { Settings } from "./settings/Settings.ts"
import * as Database from "./store/Database.ts"
import * as HostDatabase from "./store/HostDatabase.ts"

const own = Features.make(Database.layer, AccountAccess.layer)

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
).pipe(Layer.provideMerge(App.layer(own.services, own.handlers)), Layer.provide(own.background))

/** How a host program makes its PostgreSQL client: `PgClient.layer({ url, ...Server.databaseOptions })`. */
export const databaseOptions = HostDatabase.options

/** First segments of the paths that `routes` takes; the rest of the router is the host's. */
export const prefixes: ReadonlyArray<string> = (
  ".well-known accounts admin agent agent.tgz badge billing bootstrap channel datenschutz docs enroll gate healthz " +
  "impressum install.sh internal join llms.txt mcp me metrics net network-info nutzungsbedingungen openapi.json " +
  "operators payment pki portal readyz registry releases schemas status"
).split(" ")

const mounted = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const { handled } = yield* App
    const { portalBaseUrl } = yield* Settings
    const nameOf = yield* RequestId.makeNamer
    const headers = securityHeaders(portalBaseUrl.protocol === "https:")
    const handler = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const id = nameOf(request.headers["x-request-id"])
      nameRequest(NodeHttpServerRequest.toServerResponse(request), id)
      return Effect.map(handled, (response) =>
        HttpServerResponse.setHeaders(response, { ...headers, ...response.headers, "x-request-id": id })
      )
    })
    for (const prefix of prefixes) yield* router.add("*", `/${prefix}/*`, handler)
  })
).pipe(Layer.provide(SecureRandom.layerWebCrypto))

const embedded = <E, R>(
  authentication: Layer.Layer<Access.AccountAccess | Access.BearerAccess | Access.SessionAccess, E, R>
) => {
  const { background, handlers, services } = Features.make(HostDatabase.layer, authentication)
  return mounted.pipe(Layer.provide([App.layer(services, handlers), background]))
}

/**
 * The control plane as routes of a host program's `HttpRouter`, on the host's `PgClient`, whose schema it brings up to date. It
 * takes every path below `prefixes`. Accounts sign in as the settings say.
 */
export const routes = embedded(AccountAccess.layer)

/** The same with the host's own accounts: `Authentication.layer` says who sends a request. */
export const routesWith = embedded

/** `Tunnels`, `Channels`, `ServiceAccounts` and all other services, on the host's client, without HTTP. */
export const services = Features.make(HostDatabase.layer, AccountAccess.layer).services
