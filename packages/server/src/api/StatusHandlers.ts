/** Handlers of the `status` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { NetworkInfo } from "@catenet/domain/edges/PlatformStatus"
import { Effect, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { trusts } from "../http/ClientAddresses.ts"
import { EdgeQuic } from "../observability/EdgeQuic.ts"
import * as MeshRoot from "../observability/MeshRoot.ts"
import { Statuses } from "../observability/Statuses.ts"
import { Settings } from "../settings/Settings.ts"

export const StatusHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "status",
  Effect.fn(function* (handlers) {
    const statuses = yield* Statuses
    const settings = yield* Settings
    const root = yield* MeshRoot.make
    const edgeQuic = yield* EdgeQuic
    const ports = {
      mesh_edge_port: settings.meshEdgePort,
      channel_broker_port: settings.channelBrokerPort ?? 0,
      channel_relay_port: settings.channelRelayPort ?? 0,
      ...(settings.channelRelayGatePort === undefined ? {} : { channel_relay_gate_port: settings.channelRelayGatePort })
    }
    const announces = trusts(settings.trustedProxies ?? [])
    /** Tells an edge that its visitors' connections should begin with PROXY v2. */
    const markUnannounced = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ remoteAddress }) =>
      Option.exists(remoteAddress, announces)
        ? HttpEffect.appendPreResponseHandler((_request, response) =>
            Effect.succeed(HttpServerResponse.setHeader(response, "x-ct-proxy-protocol", "expected"))
          )
        : Effect.void
    )
    return handlers.handleAll({
      status: () => statuses.answer,
      live: () => Effect.void,
      ready: () => Effect.andThen(markUnannounced, statuses.ready),
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
