/** Handlers of the `provisioning` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Hosts } from "../registry/Hosts.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"

export const layer = HttpApiBuilder.group(
  ControlPlaneApi,
  "provisioning",
  Effect.fnUntraced(function* (handlers) {
    const tunnels = yield* Tunnels
    const hosts = yield* Hosts
    return handlers.handleAll({
      provisionTunnel: ({ headers, payload }) => tunnels.provision(payload, headers["idempotency-key"]),
      authorizeHost: ({ params }) => hosts.authorize(params.routing_token, params.hostname)
    })
  })
)
