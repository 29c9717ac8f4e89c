/** The control plane as the edge calls it: the edges' routes of its API, with the admin token, ten seconds a call. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { AdminAccess } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"

const CALL_LIMIT = "10 seconds"

const withToken = (token: Redacted.Redacted) =>
  HttpApiMiddleware.layerClient(AdminAccess, ({ next, request }) =>
    next(HttpClientRequest.setHeader(request, "x-ct-admin-token", Redacted.value(token)))
  )

/** The typed client of the edges' routes at `baseUrl`; its connections live as long as the scope. */
export const client = Effect.fn("ControlPlane.client")(function* (baseUrl: URL, token: Redacted.Redacted) {
  const services = yield* Layer.build(Layer.merge(withToken(token), NodeHttpClient.layerUndici))
  return yield* HttpApiClient.group(ControlPlaneApi, {
    group: "edges",
    baseUrl,
    httpClient: HttpClient.transform(Context.get(services, HttpClient.HttpClient), (call) =>
      Effect.timeout(call, CALL_LIMIT)
    )
  }).pipe(Effect.provide(services))
})

export type ControlPlane = Effect.Success<ReturnType<typeof client>>
