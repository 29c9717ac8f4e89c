/** The list of notices. */
import { Effect } from "effect"
import { NoticeMails } from "../notices/mail/NoticeMails.ts"
import { Notices } from "../notices/Notices.ts"
import * as NoticesPage from "./pages/NoticesPage.ts"
import * as Visits from "./shell/Visits.ts"

export const make = Effect.gen(function* () {
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
