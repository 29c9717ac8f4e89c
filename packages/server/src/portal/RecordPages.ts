/** Pages of what the edges recorded, and of what an account should know. */
import { publicAddress } from "@catenet/domain/tunnels/Tunnel"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { AccountEvents } from "../identity/AccountEvents.ts"
import { NoticeMails } from "../notices/mail/NoticeMails.ts"
import { Notices } from "../notices/Notices.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { Records } from "../tunnels/records/Records.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import * as EventsPage from "./pages/EventsPage.ts"
import * as FleetPage from "./pages/FleetPage.ts"
import * as NoticesPage from "./pages/NoticesPage.ts"
import * as UptimePage from "./pages/UptimePage.ts"
import * as UsagePage from "./pages/UsagePage.ts"
import * as Visits from "./shell/Visits.ts"
import { idFrom } from "./TunnelDetail.ts"

/** The pages of what the edges recorded: uptime of one tunnel, usage and state of all. */
const recordRoutes = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  const records = yield* Records
  const badges = yield* Badges
  const events = yield* AccountEvents
  const { gateHostsPort, portalBaseUrl } = yield* Settings

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
            reach: records.reach(self.caller, [id]),
            now: unixSeconds
          },
          { concurrency: "unbounded" }
        )
        const { hostname } = facts.tunnel
        const page = UptimePage.page(self.reader.texts, {
          ...facts,
          reach: facts.reach.get(id),
          address: hostname === null ? undefined : publicAddress(hostname, gateHostsPort),
          origin: portalBaseUrl.origin
        })
        return show(self, page)
      }),
    "/portal/usage": (self) =>
      Effect.map(records.usageByDay(self.caller), (facts) => show(self, UsagePage.page(self.reader.texts, facts))),
    "/portal/fleet": (self) =>
      Effect.gen(function* () {
        if (EventsPage.isAsked(self.request.url)) {
          const query = EventsPage.readQuery(self.request.url, false)
          const found = yield* events.list(self.caller.subject, query)
          return show(self, EventsPage.page(self.reader.texts, query, found))
        }
        const facts = yield* records.fleetByDay(self.caller)
        return show(self, FleetPage.page(self.reader.texts, facts, yield* unixSeconds))
      })
  } satisfies Readonly<Record<string, Visits.MemberPage>>
})

/** The list of notices. */
const noticeRoutes = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const notices = yield* Notices
  const { isConfigured, isWanted } = yield* NoticeMails
  return {
    "/portal/notices": (self) =>
      Effect.gen(function* () {
        const found = yield* notices.list(self.caller)
        const offersMail = isConfigured && !(yield* isWanted(self.caller.subject))
        return show(self, NoticesPage.page(self.reader.texts, found, offersMail))
      })
  } satisfies Readonly<Record<string, Visits.MemberPage>>
})

export const make = Effect.gen(function* () {
  return { ...(yield* recordRoutes), ...(yield* noticeRoutes) }
})

/** `/portal/fleet/events.csv`: the events that the page lists, without its pages. */
export const eventsFile = Effect.map(
  AccountEvents,
  (events): Visits.MemberPage =>
    (self) =>
      Effect.map(events.list(self.caller.subject, EventsPage.readQuery(self.request.url, true)), (found) =>
        HttpServerResponse.text(EventsPage.csv(found), {
          contentType: "text/csv; charset=utf-8",
          headers: { "content-disposition": 'attachment; filename="events.csv"' }
        })
      )
)
