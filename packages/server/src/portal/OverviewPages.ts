/** The page after the sign-in: whether all is well, what needs somebody, and the first steps of who has nothing yet. */
import { Effect } from "effect"
import { Notices } from "../notices/Notices.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Records } from "../tunnels/records/Records.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import * as OverviewPage from "./pages/OverviewPage.ts"
import { perPage } from "./pages/TunnelSelection.ts"
import * as Visits from "./shell/Visits.ts"

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  const records = yield* Records
  const notices = yield* Notices
  return {
    "/portal/home": (self) =>
      Effect.gen(function* () {
        const { caller } = self
        const found = yield* tunnels.list(caller, { limit: perPage })
        const ids = found.map(({ id }) => id)
        // The figures of all tunnels together are read where they are few.
        const isAll = found.length < perPage
        const facts = yield* Effect.all(
          {
            reach: records.reach(caller, ids),
            usage: isAll && found.length > 0 ? records.usageByDay(caller) : Effect.undefined,
            notices: notices.list(caller),
            now: unixSeconds
          },
          { concurrency: "unbounded" }
        )
        return show(self, OverviewPage.page(self.reader.texts, { ...facts, tunnels: found, email: caller.email }))
      })
  } satisfies Readonly<Record<string, Visits.MemberPage>>
})
