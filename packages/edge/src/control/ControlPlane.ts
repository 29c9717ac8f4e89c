/** The control plane as the edge calls it: the edges' routes of its API, with the admin token, ten seconds a call. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { AdminAccess } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Settings } from "../Settings.ts"

const CALL_LIMIT = "10 seconds"

const withToken = (token: Redacted.Redacted) =>
  HttpApiMiddleware.layerClient(AdminAccess, ({ next, request }) =>
    next(HttpClientRequest.setHeader(request, "x-ct-admin-token", Redacted.value(token)))
  )

const makeClient = Effect.fn("ControlPlane.makeClient")(function* (baseUrl: URL, token: Redacted.Redacted) {
  const services = yield* Layer.build(Layer.merge(withToken(token), NodeHttpClient.layerUndici))
  return yield* HttpApiClient.group(ControlPlaneApi, {
    group: "edges",
    baseUrl,
    httpClient: HttpClient.transform(Context.get(services, HttpClient.HttpClient), (call) =>
      Effect.timeout(call, CALL_LIMIT)
    )
  }).pipe(Effect.provide(services))
})

export type ControlPlaneClient = Effect.Success<ReturnType<typeof makeClient>>

/** The typed client; absent when no control plane is configured. Nothing is called until it is used. */
export class ControlPlane extends Context.Service<ControlPlane, { readonly client: ControlPlaneClient | undefined }>()(
  "edge/control/ControlPlane"
) {
  static readonly layer = Layer.effect(
    ControlPlane,
    Effect.gen(function* () {
      const { adminToken, controlPlane } = yield* Settings
      if (adminToken === undefined || controlPlane === undefined) return { client: undefined }
      return { client: yield* makeClient(controlPlane, adminToken) }
    })
  )
}
