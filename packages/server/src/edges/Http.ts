/** Handlers of the `edges` group: what edge servers ask and tell. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ChannelAdmissions } from "../channels/ChannelAdmissions.ts"
import { AgentKeys } from "../enrolment/AgentKeys.ts"
import * as Handlers from "../http/Handlers.ts"
import { Edges } from "./Edges.ts"

export const layer = Handlers.layer(
  Effect.gen(function* () {
    const edges = yield* Edges
    const admissions = yield* ChannelAdmissions
    const keys = yield* AgentKeys
    return HttpApiBuilder.group(ControlPlaneApi, "edges", (handlers) =>
      handlers.handleAll({
        authorizeChannel: ({ payload }) => admissions.authorise(payload),
        revokedTokens: () => Effect.map(edges.revokedTokens, (tokens) => HttpServerResponse.jsonUnsafe({ tokens })),
        agentProved: ({ payload }) => keys.proved(payload.token, payload.key),
        heartbeat: ({ payload }) => edges.heartbeat(payload),
        list: ({ query }) => edges.list(query),
        lookup: ({ query }) => edges.lookup(query),
        rehydrate: ({ params, query }) =>
          Effect.map(edges.rehydrate(params.edge_id, query), (known) => HttpServerResponse.jsonUnsafe(known)),
        rebind: ({ params }) => edges.rebind(params.id)
      })
    )
  })
)
