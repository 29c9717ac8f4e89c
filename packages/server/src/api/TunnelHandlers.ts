/** Handlers of the `tunnels` group. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TokenRotations } from "../tunnels/TokenRotations.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { TunnelSharing } from "../tunnels/TunnelSharing.ts"

export const TunnelHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "tunnels",
  Effect.fn(function* (handlers) {
    const tunnels = yield* Tunnels
    const sharing = yield* TunnelSharing
    const rotations = yield* TokenRotations
    return handlers.handleAll({
      list: ({ query }) => Caller.use((caller) => tunnels.list(caller, query)),
      get: ({ params }) => Caller.use((caller) => tunnels.get(caller, params.id)),
      create: ({ headers, payload }) =>
        Caller.use((caller) => tunnels.create(caller, payload, headers["idempotency-key"])),
      change: ({ params, payload }) => Caller.use((caller) => tunnels.change(caller, params.id, payload)),
      remove: ({ params }) => Caller.use((caller) => tunnels.remove(caller, params.id)),
      install: ({ headers, params }) =>
        Caller.use((caller) => tunnels.install(caller, params.id, headers["idempotency-key"])),
      verifyHostname: ({ params }) => Caller.use((caller) => tunnels.verifyHostname(caller, params.id)),
      rotateToken: ({ headers, params }) =>
        Caller.use((caller) => rotations.rotate(caller, params.id, headers["idempotency-key"])),
      reclaim: ({ params }) => Caller.use((caller) => tunnels.reclaim(caller, params.id)),
      grant: ({ params, payload }) => Caller.use((caller) => sharing.grant(caller, params.id, payload.grantee)),
      ungrant: ({ params }) => Caller.use((caller) => sharing.ungrant(caller, params.id, params.grantee)),
      listGrantees: ({ params, query }) =>
        Caller.use((caller) => Effect.map(sharing.grantees(caller, params.id, query), (grantees) => ({ grantees }))),
      allowVisitor: ({ params, payload }) =>
        Caller.use((caller) => sharing.allowVisitor(caller, params.id, payload.email)),
      disallowVisitor: ({ params }) => Caller.use((caller) => sharing.disallowVisitor(caller, params.id, params.email)),
      listVisitors: ({ params, query }) =>
        Caller.use((caller) => Effect.map(sharing.visitors(caller, params.id, query), (emails) => ({ emails }))),
      listAccessRequests: ({ params, query }) =>
        Caller.use((caller) => sharing.accessRequests(caller, params.id, query)),
      dismissAccessRequest: ({ params }) => Caller.use((caller) => sharing.dismiss(caller, params.id, params.email))
    })
  })
)
