/**
 * The control plane as one layer. Another Effect program serves it by providing `Settings`:
 *
 * ```ts
 * Server.layer.pipe(Layer.provide(Settings.layer), Layer.launch, NodeRuntime.runMain)
 * ```
 */
import { ServedApi } from "./ServedApi.ts"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Features from "./Features.ts"
import * as Docs from "./http/Docs.ts"
import * as Listener from "./http/Listener.ts"
import * as Shell from "./http/Shell.ts"
import { Settings } from "./Settings.ts"
import * as Database from "./store/Database.ts"

const routes = Layer.mergeAll(HttpApiBuilder.layer(ServedApi), Docs.layer)

/** Listens once every feature stands: a request that is accepted is answered. */
const serving = Layer.unwrap(
  Effect.gen(function* () {
    const app = yield* HttpRouter.toHttpEffect(routes)
    const { portalBaseUrl } = yield* Settings
    const shell = Shell.make({ extra: Docs.addresses, origin: portalBaseUrl.origin })
    return HttpServer.serve(shell(app)).pipe(Layer.provideMerge(Listener.layer))
  })
)

/** The whole control plane. It listens when the layer is built, and finishes running requests when it ends. */
export const layer = serving.pipe(
  Layer.provide(Features.layer),
  Layer.provide(NodeHttpServer.layerHttpServices),
  Layer.provide(Database.layer)
)
