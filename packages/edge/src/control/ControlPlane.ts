/**
 * Client of the control plane: the API routes for edges, with the admin token and ten seconds per call. Also holds the key that
 * identifies this edge.
 */
import { AdminAccess } from "@catenet/domain/api/Access"
import { EdgeCallsApi, type EdgesApi } from "@catenet/domain/api/EdgesApi"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { type Cause, Context, Effect, Layer, Predicate, Redacted } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import * as Ed25519Seed from "../ca/Ed25519Seed.ts"
import * as EdgeFileErrors from "../ca/EdgeFileErrors.ts"
import { Settings } from "../settings/Settings.ts"

/**
 * Idempotent calls of the control plane. A call whose connection breaks is repeated once: an idle connection may have been closed
 * by the other side, for example by a restart.
 */
const questions = new Set(["/internal/channel/authorize", "/internal/gate/check"])

const isIdempotent = ({ method, url }: HttpClientRequest.HttpClientRequest) =>
  method === "GET" || questions.has(new URL(url).pathname)

const isBroken = ({ reason }: HttpClientError.HttpClientError) => reason._tag === "TransportError"

type Call<R> = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError, R>

/** The call, made twice at most. */
const retryOnce = <R>(call: Call<R>, request: HttpClientRequest.HttpClientRequest): Call<R> =>
  isIdempotent(request) ? Effect.retry(call, { times: 1, while: isBroken }) : call

const callLimit = "10 seconds"

/** Maximum bytes of a response: room for the names and keys of a page of tunnels, and for all revoked tokens. */
const longestAnswer = 64 * 1024 * 1024

/** This client follows no redirect, so that the admin token goes to no other address. */
const outgoing = NodeHttpClient.layerUndiciOptions({ maxResponseSize: longestAnswer })

const withToken = (token: Redacted.Redacted) =>
  HttpApiMiddleware.layerClient(AdminAccess, ({ next, request }) =>
    next(HttpClientRequest.setHeader(request, "x-ct-admin-token", Redacted.value(token)))
  )

const makeClient = Effect.fn("ControlPlane.makeClient")(function* (baseUrl: URL, token: Redacted.Redacted) {
  const services = yield* Layer.build(Layer.merge(withToken(token), outgoing))
  return yield* HttpApiClient.group(EdgeCallsApi, {
    group: "edges",
    baseUrl,
    httpClient: HttpClient.transform(Context.get(services, HttpClient.HttpClient), (call, request) =>
      Effect.timeout(retryOnce(call, request), callLimit)
    )
  }).pipe(Effect.provide(services))
})

/** The status of a failed call. Only the status is evaluated, because control planes of other vendors have different bodies. */
export const statusOf = (error: unknown): number | undefined => {
  if (HttpClientError.isHttpClientError(error)) return error.response?.status
  return Predicate.hasProperty(error, "status") && typeof error.status === "number" ? error.status : undefined
}

/** A call fails with its declared errors, or if there is no response in time. */
export type ControlPlaneClient = HttpApiClient.Client.Group<typeof EdgesApi, Cause.TimeoutError, never>

const loadSeed = Ed25519Seed.load("edge-mesh-key.bin", (file) =>
  EdgeFileErrors.damaged(
    file,
    Ed25519Seed.shape,
    "restore it from your backup, or remove it and rebind the edge id at the control plane"
  )
)

export class ControlPlane extends Context.Service<
  ControlPlane,
  {
    /** The typed client; undefined if no control plane is configured. */
    readonly client: ControlPlaneClient | undefined
    /** The Ed25519 seed that signs heartbeats; undefined without the client. */
    readonly seed: Redacted.Redacted<Uint8Array> | undefined
  }
>()("edge/control/ControlPlane") {
  static readonly make = Effect.gen(function* () {
    const { adminToken, controlPlane } = yield* Settings
    if (adminToken === undefined || controlPlane === undefined) return { client: undefined, seed: undefined }
    return { client: yield* makeClient(controlPlane, adminToken), seed: yield* loadSeed }
  })
  static readonly layer = Layer.effect(this, this.make)
  /** For a worker process, which looks hosts up and signs nothing. */
  static readonly layerUnsigned = Layer.effect(
    ControlPlane,
    Effect.gen(function* () {
      const { adminToken, controlPlane } = yield* Settings
      if (adminToken === undefined || controlPlane === undefined) return { client: undefined, seed: undefined }
      return { client: yield* makeClient(controlPlane, adminToken), seed: undefined }
    })
  )
}
