/** The list of notices. */
import { Effect } from "effect"
import { Notices } from "../notices/Notices.ts"
import * as NoticesPage from "./pages/NoticesPage.ts"
import * as Visits from "./shell/Visits.ts"

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const notices = yield* Notices
  return {
    "/portal/notices": (self) =>
      Effect.map(notices.list(self.caller), (found) => show(self, NoticesPage.page(self.reader.texts, found)))
  } satisfies Readonly<Record<string, Visits.MemberPage>>
})
