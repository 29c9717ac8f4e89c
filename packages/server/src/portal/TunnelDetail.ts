/** The page of one tunnel with everything on it, also as the answer to a form on it that was refused. */
import type { Caller } from "@catenet/domain/api/Access"
import { addressOf as publicAddressOf } from "@catenet/domain/tunnels/Tunnel"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { TunnelIdInPath } from "@catenet/domain/values/Ids"
import { Effect, Option, Schema } from "effect"
import { CertificateStandings } from "../certificates/CertificateStandings.ts"
import { EdgeFacts } from "../edges/EdgeFacts.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { AccessWindows } from "../tunnels/AccessWindows.ts"
import { Alerts } from "../tunnels/alerts/Alerts.ts"
import { CertificateOptOuts } from "../tunnels/CertificateOptOuts.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { Records } from "../tunnels/records/Records.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { TunnelSharing } from "../tunnels/TunnelSharing.ts"
import * as TunnelPage from "./pages/TunnelPage.ts"
import type { Sent } from "./shell/Field.ts"
import * as Visits from "./shell/Visits.ts"

export const idFrom = Schema.decodeSync(TunnelIdInPath)

/** Deliveries of the alert that the page shows. */
const shownDeliveries = 5

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  const records = yield* Records
  const alerts = yield* Alerts
  const badges = yield* Badges
  const windows = yield* AccessWindows
  const links = yield* ShareLinks
  const sharing = yield* TunnelSharing
  const optOuts = yield* CertificateOptOuts
  const edgeFacts = yield* EdgeFacts
  const standings = yield* CertificateStandings
  const { gateHostsPort, portalBaseUrl } = yield* Settings

  const addressOf = (tunnel: Tunnel) => publicAddressOf(tunnel, gateHostsPort)

  const standingOf = (hostname: string) => Effect.map(standings.of([hostname]), (found) => found.get(hostname))

  const detail = Effect.fnUntraced(function* (
    self: Visits.Visit,
    caller: Caller["Service"],
    path: string,
    sent?: Sent
  ) {
    const { texts } = self.reader
    const id = idFrom(path)
    const tunnel = yield* tunnels.get(caller, id)
    const status = sent === undefined ? 200 : 400
    const tab = TunnelPage.tabOf(new URL(self.request.url, "http://localhost").searchParams.get("tab"), sent)
    const facts = { tunnel, address: addressOf(tunnel), sent, tab }
    if (!tunnel.owned) return show(self, TunnelPage.page(texts, facts), status)
    const none = Effect.succeed([])
    const controls = yield* Effect.all(
      {
        reach: records.reach(caller, [id]),
        alert: Effect.catchTag(Effect.asSome(alerts.get(caller, id)), "AlertNotFound", () => Effect.succeedNone),
        deliveries: Effect.catchTag(
          alerts.deliveries(caller, id, { limit: shownDeliveries }),
          "AlertNotFound",
          () => none
        ),
        badge: badges.get(caller, id),
        window: windows.get(caller, id),
        links: links.list(caller, id, {}),
        visitors: sharing.visitors(caller, id, {}),
        requests: sharing.accessRequests(caller, id, {}),
        certificateDeclined: optOuts.get(caller, id),
        standing: tunnel.hostname === null ? Effect.undefined : standingOf(tunnel.hostname),
        receiptKeys: edgeFacts.receiptKeys,
        report: tab === "overview" ? records.uptime(caller, id) : Effect.undefined,
        now: unixSeconds
      },
      { concurrency: "unbounded" }
    )
    const page = TunnelPage.page(texts, {
      ...facts,
      report: controls.report,
      controls: {
        ...controls,
        alert: Option.getOrUndefined(controls.alert),
        reach: controls.reach.get(id),
        origin: portalBaseUrl.origin
      }
    })
    return show(self, page, status)
  })
  return { addressOf, detail }
})
