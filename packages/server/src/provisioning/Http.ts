/** Handlers of the `provisioning` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Tunnels } from "../tunnels/Tunnels.ts"

export const layer = HttpApiBuilder.group(
  ControlPlaneApi,
  "provisioning",
  Effect.fnUntraced(function* (handlers) {
    const tunnels = yield* Tunnels
    return handlers.handleAll({
      provisionTunnel: ({ payload: { hostname, name, subject } }) => tunnels.provision({ subject, name }, hostname),
      authorizeHost: ({ params }) => tunnels.authorizeHost(params.routing_token, params.hostname)
    })
  })
)
