/** Handlers of the `tunnelControls` group: alert, access window, share links and badge of a tunnel. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { HttpOnlyState } from "@catenet/domain/api/TunnelControlsApi"
import { TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { setRetryAfter } from "../http/RetryAfter.ts"
import { AccessWindows } from "../tunnels/AccessWindows.ts"
import { Alerts } from "../tunnels/alerts/Alerts.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"

export const TunnelControlHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "tunnelControls",
  Effect.fn(function* (handlers) {
    const alerts = yield* Alerts
    const windows = yield* AccessWindows
    const tunnels = yield* Tunnels
    const links = yield* ShareLinks
    const badges = yield* Badges
    return handlers.handleAll({
      getAlert: ({ params }) => Caller.use((caller) => alerts.get(caller, params.id)),
      saveAlert: ({ params, payload }) =>
        Caller.use((caller) =>
          alerts.save(caller, params.id, {
            webhookUrl: payload.webhook_url,
            thresholdMinutes: payload.threshold_minutes
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
