/**
 * The control plane as the edge calls it: the edges' routes of its API, with the admin token, ten seconds a call. And the
 * key by which the control plane knows this edge again.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { AdminAccess } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import * as KeptFile from "../ca/KeptFile.ts"
import * as Seed from "../ca/Seed.ts"
import { Settings } from "../settings/Settings.ts"

const CALL_LIMIT = "10 seconds"

/** Bytes of an answer: room for the names and keys of a page of tunnels, and for the tokens revoked so far. */
const LONGEST_ANSWER = 64 * 1024 * 1024

/** This client follows no redirect, so that the admin token goes to no other address. */
const outgoing = NodeHttpClient.layerUndiciOptions({ maxResponseSize: LONGEST_ANSWER })

const withToken = (token: Redacted.Redacted) =>
  HttpApiMiddleware.layerClient(AdminAccess, ({ next, request }) =>
    next(HttpClientRequest.setHeader(request, "x-ct-admin-token", Redacted.value(token)))
  )

const makeClient = Effect.fn("ControlPlane.makeClient")(function* (baseUrl: URL, token: Redacted.Redacted) {
  const services = yield* Layer.build(Layer.merge(withToken(token), outgoing))
  return yield* HttpApiClient.group(ControlPlaneApi, {
    group: "edges",
    baseUrl,
    httpClient: HttpClient.transform(Context.get(services, HttpClient.HttpClient), (call) =>
      Effect.timeout(call, CALL_LIMIT)
    )
  }).pipe(Effect.provide(services))
})

export type ControlPlaneClient = Effect.Success<ReturnType<typeof makeClient>>

const loadSeed = Seed.load("edge-mesh-key.bin", (file) =>
  KeptFile.damaged(
    file,
    Seed.shape,
    "restore it from your backup, or remove it and rebind the edge id at the control plane"
  )
)

export class ControlPlane extends Context.Service<
  ControlPlane,
  {
    /** The typed client; absent when no control plane is configured. Nothing is called until it is used. */
    readonly client: ControlPlaneClient | undefined
    /** The Ed25519 seed that signs heartbeats; absent with the client. */
    readonly seed: Redacted.Redacted<Uint8Array> | undefined
  }
>()("edge/control/ControlPlane") {
  static readonly layer = Layer.effect(
    ControlPlane,
    Effect.gen(function* () {
      const { adminToken, controlPlane } = yield* Settings
      if (adminToken === undefined || controlPlane === undefined) return { client: undefined, seed: undefined }
      return { client: yield* makeClient(controlPlane, adminToken), seed: yield* loadSeed }
    })
  )
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
