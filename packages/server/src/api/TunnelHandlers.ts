/** Handlers of tunnels, their alerts, access windows, share links and options, and the agent bridge. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { readBody } from "@catenet/domain/api/RequestReading"
import { HttpOnlyState } from "@catenet/domain/api/TunnelControlsApi"
import { ChannelId, NewGrant } from "@catenet/domain/channels/Channel"
import { TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Bridges } from "../channels/Bridges.ts"
import { setRetryAfter } from "../http/Limits.ts"
import { AccessWindows } from "../tunnels/AccessWindows.ts"
import { Alerts } from "../tunnels/alerts/Alerts.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { TokenRotations } from "../tunnels/TokenRotations.ts"
import { TunnelRules } from "../tunnels/TunnelRules.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { TunnelSharing } from "../tunnels/TunnelSharing.ts"

/** Handlers of the `bridge` group. A grant is read after the check that there is a bridge, so its body is read here. */
const Deposit = Schema.Struct({ channel_id: ChannelId, grant_hex: NewGrant })

export const BridgeHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "bridge",
  Effect.fn(function* (handlers) {
    const bridges = yield* Bridges
    return handlers
      .handle("get", ({ params }) => Caller.use((caller) => bridges.get(caller, params.id)))
      .handle("setMode", ({ params, payload }) =>
        Caller.use((caller) => bridges.setMode(caller, params.id, payload.mode))
      )
      .handleRaw("storeGrant", ({ params }) =>
        Caller.use((caller) =>
          Effect.gen(function* () {
            yield* bridges.admit(caller, params.id)
            const { channel_id: channel, grant_hex: grant } = yield* readBody(Deposit)
            yield* bridges.storeGrant(caller, params.id, { channel, grant })
            return HttpServerResponse.empty({ status: 200 })
          })
        )
      )
      .handle("call", ({ params, payload }) => Caller.use((caller) => bridges.call(caller, params.id, payload)))
  })
)

/** Handlers of the `tunnelControls` group: alert, access window, share links and badge of a tunnel. */
export const TunnelControlHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "tunnelControls",
  Effect.fn(function* (handlers) {
    const alerts = yield* Alerts
    const windows = yield* AccessWindows
    const rules = yield* TunnelRules
    const tunnels = yield* Tunnels
    const links = yield* ShareLinks
    const badges = yield* Badges
    return handlers.handleAll({
      getAlert: ({ params }) => Caller.use((caller) => alerts.get(caller, params.id)),
      saveAlert: ({ params, payload }) =>
        Caller.use((caller) =>
          alerts.save(caller, params.id, {
            webhookUrl: payload.webhook_url,
            thresholdMinutes: payload.threshold_minutes,
            format: payload.format,
            token: payload.token
          })
        ),
      testAlert: ({ params }) =>
        Caller.use((caller) =>
          Effect.tapErrorTag(alerts.test(caller, params.id), "DeliveryBudgetSpent", setRetryAfter)
        ),
      removeAlert: ({ params }) => Caller.use((caller) => alerts.remove(caller, params.id)),
      listDeliveries: ({ params, query }) => Caller.use((caller) => alerts.deliveries(caller, params.id, query)),
      getAccess: ({ params }) => Caller.use((caller) => windows.get(caller, params.id)),
      setAccess: ({ params, payload }) => Caller.use((caller) => windows.set(caller, params.id, payload)),
      rearmAccess: ({ params }) => Caller.use((caller) => windows.rearm(caller, params.id)),
      clearAccess: ({ params }) => Caller.use((caller) => windows.clear(caller, params.id)),
      getHttpOnly: ({ params }) =>
        Caller.use((caller) =>
          Effect.map(tunnels.owned(params.id, caller), ({ options }) => new HttpOnlyState(options))
        ),
      setHttpOnly: ({ params, payload }) =>
        Caller.use((caller) => Effect.as(tunnels.change(caller, params.id, new TunnelChange(payload)), payload)),
      getRules: ({ params }) => Caller.use((caller) => rules.get(caller, params.id)),
      setRules: ({ params, payload }) => Caller.use((caller) => rules.set(caller, params.id, payload.rules)),
      mintShareLink: ({ headers, params, payload }) =>
        Caller.use((caller) => links.mint(caller, params.id, payload, headers["idempotency-key"])),
      listShareLinks: ({ params, query }) => Caller.use((caller) => links.list(caller, params.id, query)),
      revokeShareLink: ({ params }) => Caller.use((caller) => links.revoke(caller, params.id, params.link_id)),
      getBadge: ({ params }) => Caller.use((caller) => badges.get(caller, params.id)),
      enableBadge: ({ params }) => Caller.use((caller) => badges.enable(caller, params.id)),
      disableBadge: ({ params }) => Caller.use((caller) => badges.disable(caller, params.id))
    })
  })
)

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
      setHostname: ({ params, payload }) =>
        Caller.use((caller) => tunnels.setHostname(caller, params.id, payload.hostname)),
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
