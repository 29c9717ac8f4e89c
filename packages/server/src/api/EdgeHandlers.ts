/** Handlers of the `edges` group: what edge servers ask and tell. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { epochHeader } from "@catenet/domain/edges/EdgeNode"
import { Effect, Option } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ChannelAdmissions } from "../channels/ChannelAdmissions.ts"
import { Edges } from "../edges/Edges.ts"
import { TicketKeys } from "../edges/TicketKeys.ts"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { Gate } from "../gate/Gate.ts"
import { GateCodes } from "../gate/GateCodes.ts"
import { GateSessions } from "../tunnels/GateSessions.ts"

/** In a header, because the answer to a heartbeat has no body. */
const withEpoch = (epoch: string | undefined) =>
  epoch === undefined
    ? Effect.void
    : HttpEffect.appendPreResponseHandler((_request, response) =>
        Effect.succeed(HttpServerResponse.setHeader(response, epochHeader, epoch))
      )

export const EdgeHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "edges",
  Effect.fn(function* (handlers) {
    const edges = yield* Edges
    const ticketKeys = yield* TicketKeys
    const gate = yield* Gate
    const codes = yield* GateCodes
    const sessions = yield* GateSessions
    const admissions = yield* ChannelAdmissions
    const keys = yield* AgentKeys
    return handlers.handleAll({
      authorizeChannel: ({ payload }) =>
        Effect.map(admissions.authorize(payload), (member) => HttpServerResponse.jsonUnsafe(member)),
      revokedTokens: ({ query }) =>
        Effect.map(edges.revokedTokens(query), (tokens) => HttpServerResponse.jsonUnsafe({ tokens })),
      agentProved: ({ payload }) => keys.proved(payload.token, payload.key),
      heartbeat: ({ payload }) => Effect.flatMap(edges.heartbeat(payload), withEpoch),
      ticketKeys: ({ payload }) => ticketKeys.answer(payload),
      list: ({ query }) => edges.list(query),
      lookup: ({ query }) => edges.lookup(query),
      rehydrate: ({ query }) => Effect.map(edges.rehydrate(query), (known) => HttpServerResponse.jsonUnsafe(known)),
      checkVisitor: ({ payload }) => gate.answer(payload.host, Option.fromUndefinedOr(payload.session)),
      redeemGateCode: ({ payload }) => codes.redeem(payload),
      endVisit: ({ payload }) => sessions.close(payload.session, payload.host),
      rebind: ({ params }) => edges.rebind(params.id)
    })
  })
)
