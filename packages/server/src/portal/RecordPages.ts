/** The pages of what the edges recorded: uptime of one tunnel, usage and state of all. */
import { Effect } from "effect"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { Records } from "../tunnels/records/Records.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import * as FleetPage from "./pages/FleetPage.ts"
import * as UptimePage from "./pages/UptimePage.ts"
import * as UsagePage from "./pages/UsagePage.ts"
import * as Visits from "./shell/Visits.ts"
import { idFrom } from "./TunnelDetail.ts"

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  const records = yield* Records
  const badges = yield* Badges
  const { portalBaseUrl } = yield* Settings

  return {
    "/portal/tunnels/:id/uptime": (self, at) =>
      Effect.gen(function* () {
        const id = idFrom(at("id"))
        yield* tunnels.owned(id, self.caller)
        const facts = yield* Effect.all(
          {
            tunnel: tunnels.get(self.caller, id),
            report: records.uptime(self.caller, id),
            badge: badges.get(self.caller, id),
            now: unixSeconds
          },
          { concurrency: "unbounded" }
        )
        return show(self, UptimePage.page(self.reader.texts, { ...facts, origin: portalBaseUrl.origin }))
      }),
    "/portal/usage": (self) =>
      Effect.map(records.usageByDay(self.caller), (facts) => show(self, UsagePage.page(self.reader.texts, facts))),
    "/portal/fleet": (self) =>
      Effect.gen(function* () {
        const facts = yield* records.fleetByDay(self.caller)
        return show(self, FleetPage.page(self.reader.texts, facts, yield* unixSeconds))
      })
  } satisfies Readonly<Record<string, Visits.MemberPage>>
})
