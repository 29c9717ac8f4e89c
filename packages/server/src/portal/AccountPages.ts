/** The page of an account, and its plain forms: open sessions are ended, and the account itself. */
import { SessionNotFound } from "@catenet/domain/identity/AuthenticationErrors"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Accounts } from "../accounts/Accounts.ts"
import { Credits } from "../billing/Credits.ts"
import { Sessions } from "../identity/Sessions.ts"
import { seeOther, type Submission } from "./Forms.ts"
import { sessionCookie } from "./shell/SessionCookie.ts"
import * as AccountPage from "./pages/AccountPage.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import type { Refused } from "./shell/Field.ts"
import type { Page } from "./shell/Shell.ts"
import type { Member, Response, Visit } from "./shell/Visits.ts"

const home = "/portal/account"
const cookie = { path: "/", httpOnly: true, secure: true, sameSite: "lax" } as const

export const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const credits = yield* Credits
  const sessions = yield* Sessions

  const account = Effect.fnUntraced(function* (
    { reader, token }: Visit,
    caller: Submission["caller"],
    refused?: Refused
  ) {
    return AccountPage.page(reader.texts, {
      account: yield* credits.mine(caller.subject),
      email: caller.email,
      sessions: yield* sessions.list(caller.subject, token),
      ...(refused === undefined ? {} : { refused })
    })
  })

  return (show: (self: Visit, page: Page, status?: number) => Response) => ({
    page: (self: Member) => Effect.map(account(self, self.caller), (page) => show(self, page)),
    forms: {
      "/portal/account/sessions/end-others": (self: Visit) => (sent: Submission) =>
        Effect.as(sessions.closeOthers(sent.caller.subject, self.token), seeOther(home)),
      "/portal/account/sessions/:id/end": () => (sent: Submission) =>
        Effect.flatMap(sessions.closeOne(sent.caller.subject, sent.at("id")), (found) =>
          found ? Effect.succeed(seeOther(home)) : new SessionNotFound()
        ),
      "/portal/account/delete": (self: Visit) => (sent: Submission) =>
        Effect.gen(function* () {
          const { texts } = self.reader
          const typed = sent.form["confirm"] ?? ""
          if (typed !== "DELETE") {
            const refused = { typed, reason: texts.deleteAccountRefused }
            return show(self, yield* account(self, sent.caller, refused), 400)
          }
          yield* accounts.remove(sent.caller)
          const gone = { ...self, reader: { ...self.reader, signedIn: undefined, path: "/" } }
          const link = { href: "/", text: texts.toFront }
          const page = ProblemPage.page({ title: texts.accountDeleted, detail: texts.accountDeletedText, link })
          return HttpServerResponse.expireCookieUnsafe(show(gone, page), sessionCookie, cookie)
        })
    }
  })
})
