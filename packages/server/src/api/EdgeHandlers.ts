/** Handlers of calls by edges, and of the public status. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { NetworkInfo } from "@catenet/domain/api/StatusApi"
import { epochHeader } from "@catenet/domain/edges/EdgeNode"
import { Effect, Option } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { PlatformCertificates } from "../certificates/PlatformCertificates.ts"
import { ChannelAdmissions } from "../channels/ChannelAdmissions.ts"
import { Edges } from "../edges/Edges.ts"
import { TicketKeys } from "../edges/TicketKeys.ts"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { Gate } from "../gate/Gate.ts"
import { GateCodes } from "../gate/GateCodes.ts"
import { EdgeQuic } from "../observability/EdgeQuic.ts"
import * as MeshRoot from "../observability/EdgeQuic.ts"
import { Statuses } from "../observability/Statuses.ts"
import { Settings } from "../settings/Settings.ts"
import { GateSessions } from "../tunnels/GateSessions.ts"

/** Handlers of the `status` group. */
export const StatusHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "status",
  Effect.fn(function* (handlers) {
    const statuses = yield* Statuses
    const settings = yield* Settings
    const root = yield* MeshRoot.make
    const edgeQuic = yield* EdgeQuic
    const frontDoorPort = settings.channelFrontDoor?.port ?? 443
    const ports = {
      mesh_edge_port: settings.meshEdgePort,
      channel_broker_port: settings.channelBrokerPort ?? 0,
      channel_relay_port: settings.channelRelayPort ?? 0,
      ...(settings.channelRelayGatePort === undefined
        ? {}
        : { channel_relay_gate_port: settings.channelRelayGatePort }),
      ...(frontDoorPort === 443 ? {} : { channel_front_door_port: frontDoorPort })
    }
    return handlers.handleAll({
      status: () => statuses.answer,
      live: () => Effect.void,
      ready: () => statuses.ready,
      networkInfo: () =>
        Effect.map(edgeQuic.listens, (listens) => {
          const quicPort = Option.map(listens, (yes) => (yes ? settings.meshEdgePort : 0))
          return new NetworkInfo({
            ...ports,
            ...(Option.isNone(quicPort) ? {} : { mesh_edge_quic_port: quicPort.value })
          })
        }),
      edgeCa: () => root
    })
  })
)

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
    const certificates = yield* PlatformCertificates
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
      certificates: ({ payload }) => certificates.answer(payload),
      ticketKeys: ({ payload }) => ticketKeys.answer(payload),
      list: ({ query }) => edges.list(query),
      lookup: ({ query }) => edges.lookup(query),
      presence: ({ payload }) => edges.report(payload),
      rehydrate: ({ query }) => Effect.map(edges.rehydrate(query), (known) => HttpServerResponse.jsonUnsafe(known)),
      checkVisitor: ({ payload }) => gate.answer(payload.host, Option.fromUndefinedOr(payload.session)),
      redeemGateCode: ({ payload }) => codes.redeem(payload),
      endVisit: ({ payload }) => sessions.close(payload.session, payload.host),
      rebind: ({ params }) => edges.rebind(params.id)
    })
  })
)
