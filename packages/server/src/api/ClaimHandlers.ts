/** Handlers of the `claims` group. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { readBody } from "@catenet/domain/api/RequestReading"
import { ClaimRequest } from "@catenet/domain/channels/Claim"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ClaimInvites } from "../channels/ClaimInvites.ts"
import { Claims } from "../channels/Claims.ts"

export const ClaimHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "claims",
  Effect.fn(function* (handlers) {
    const claims = yield* Claims
    const invites = yield* ClaimInvites
    return handlers
      .handleAll({
        list: ({ query }) =>
          Caller.use((caller) => Effect.map(claims.list(caller, query), (found) => ({ claims: found }))),
        collectGrants: ({ params }) => Caller.use((caller) => claims.collectGrants(caller, params.channel)),
        showInvite: ({ query }) => invites.show(query.invite),
        confirmInvite: ({ payload }) => Caller.use((caller) => invites.confirm(caller, payload.invite))
      })
      .handleRaw("claim", ({ params }) =>
        Effect.gen(function* () {
          const caller = yield* Caller
          yield* claims.requireEmail(caller)
          yield* claims.claim(caller, params.channel, yield* readBody(ClaimRequest))
          return { claimed: true as const }
        })
      )
  })
)
