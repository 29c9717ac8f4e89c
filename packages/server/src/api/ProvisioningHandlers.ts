/** Handlers of the `provisioning` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Hosts } from "../tunnels/hostnames/Hosts.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"

export const ProvisioningHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "provisioning",
  Effect.fn(function* (handlers) {
    const tunnels = yield* Tunnels
    const hosts = yield* Hosts
    return handlers.handleAll({
      provisionTunnel: ({ headers, payload }) => tunnels.provision(payload, headers["idempotency-key"]),
      list: ({ query }) => tunnels.all(query),
      authorizeHost: ({ params }) => hosts.authorize(params.routing_token, params.hostname)
    })
  })
)
