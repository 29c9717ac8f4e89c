/** The local endpoints of an agent, where they are asked for: the framework's server is loaded then, and not by other agents. */
import { Effect, Layer } from "effect"
import type { HostPort } from "../settings/HostPort.ts"
import type { BearerSource } from "../settings/LoginVariables.ts"

/** Serves until the scope ends. */
export const open = Effect.fn("LocalEndpoints.open")(function* (listen: HostPort, credential: BearerSource) {
  const Endpoints = yield* Effect.promise(() => import("./LocalHttpServer.ts"))
  yield* Layer.build(Endpoints.layer(listen, credential))
})
