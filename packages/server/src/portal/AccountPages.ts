/** The page of an account, and its plain forms: open sessions are ended, and the account itself. */
import { SessionNotFound } from "@catenet/domain/identity/AuthenticationErrors"
import { ClientIdInPath, maxServiceAccounts, ServiceAccountName } from "@catenet/domain/identity/ServiceAccount"
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { audit } from "@catenet/domain/values/AuditEffect"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Redacted, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { Accounts } from "../accounts/Accounts.ts"
import { Credits } from "../billing/Credits.ts"
import { Payments } from "../billing/Payments.ts"
import { forHost, portalSessionCookie } from "../http/Cookies.ts"
import { Audits } from "../identity/Audits.ts"
import { EmailDomains } from "../identity/EmailDomains.ts"
import { RealmAdmin } from "../identity/RealmAdmin.ts"
import { ServiceAccounts } from "../identity/ServiceAccounts.ts"
import { Sessions } from "../identity/Sessions.ts"
import { NoticeMails } from "../notices/mail/NoticeMails.ts"
import { Settings } from "../settings/Settings.ts"
import { read, refusedFields, seeOther, sentBack, type Submission, type Submit, wholeNumber } from "./Forms.ts"
import * as AccountPage from "./pages/AccountPage.ts"
import * as OncePage from "./pages/OncePage.ts"
import type { Sent } from "./shell/Field.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import * as Visits from "./shell/Visits.ts"

const home = "/portal/account"
const programs = "/portal/account?tab=service-accounts"
/** Entries of the lists on the page; the API has them all. */
const shownPayments = 20
const shownEntries = 50

const clientFrom = Schema.decodeSync(ClientIdInPath)
const readService = read(Schema.Struct({ name: ServiceAccountName }))
const readCredits = read(Schema.Struct({ credits: wholeNumber }))

const dependencies = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const accounts = yield* Accounts
  const credits = yield* Credits
  const payments = yield* Payments
  const sessions = yield* Sessions
  const serviceAccounts = yield* ServiceAccounts
  const audits = yield* Audits
  const domains = yield* EmailDomains
  const mails = yield* NoticeMails
  const realm = yield* RealmAdmin
  const { oidcIssuer, paymentWebhookSecret, portalBaseUrl } = yield* Settings
  return {
    accounts,
    audits,
    credits,
    domains,
    mails,
    oidcIssuer,
    hasCredits: paymentWebhookSecret !== undefined,
    payments,
    portalBaseUrl,
    realm,
    serviceAccounts,
    sessions,
    show
  }
})
type State = Effect.Success<typeof dependencies>

const secretPage = ({ show }: State, self: Visits.Visit, clientId: string, secret: Redacted.Redacted) => {
  const { texts } = self.reader
  const shown = `client_id=${clientId}\nclient_secret=${Redacted.value(secret)}`
  return show(
    self,
    OncePage.page(texts, {
      title: texts.serviceTitle,
      detail: texts.serviceOnce,
      shown,
      back: programs,
      area: "account"
    })
  )
}

/** The page does not wait long for the identity provider; without an answer it has no list. */
const applications = ({ realm }: State, subject: string) =>
  realm.consents(subject).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => [])
  )

const account = Effect.fnUntraced(function* (
  state: State,
  self: Visits.Visit,
  caller: Submission["caller"],
  sent?: Sent
) {
  const { audits, credits, hasCredits, mails, oidcIssuer, payments, portalBaseUrl, serviceAccounts, sessions, show } =
    state
  const mine = yield* credits.mine(caller.subject)
  const asked = AccountPage.tabOf(self.request.url, sent)
  const tab = asked === "credits" && !hasCredits ? "profile" : asked
  const none: ReadonlyArray<never> = []
  const page = AccountPage.page(self.reader.texts, {
    tab,
    account: mine,
    hasCredits,
    origin: portalBaseUrl.origin,
    consoleUrl: oidcIssuer === undefined ? undefined : `${oidcIssuer}/account`,
    email: caller.email,
    isMailWanted: tab === "profile" && mails.isConfigured ? yield* mails.isWanted(caller.subject) : undefined,
    sessions: tab === "profile" ? yield* sessions.list(caller.subject, self.token) : none,
    serviceAccounts:
      tab === "service-accounts" ? yield* serviceAccounts.list(caller.subject, { limit: maxServiceAccounts }) : none,
    applications: tab === "service-accounts" ? yield* applications(state, caller.subject) : none,
    payments: tab === "credits" ? yield* payments.list(mine.account, { limit: shownPayments }) : none,
    audit: tab === "log" ? yield* audits.list({ actor: lowerAscii(caller.subject), limit: shownEntries }) : none,
    sent
  })
  return show(self, page, sent === undefined ? 200 : 400)
})

export const make = Effect.map(dependencies, (state) => ({
  pages: {
    "/portal/account": (self) => account(state, self, self.caller)
  } satisfies Readonly<Record<string, Visits.MemberPage>>,
  forms: {
    "/portal/account/credits": (sent) =>
      Effect.gen(function* () {
        const asked = yield* readCredits(sent.form)
        const mine = yield* state.credits.mine(sent.caller.subject)
        const { payment } = yield* state.payments
          .intend(sent.caller.subject, { account: mine.account, credits: asked.credits }, undefined)
          .pipe(Effect.catchTag(["AccountUnknown", "IdempotencyKeyReused"], (error) => Effect.die(error)))
        const { texts } = sent.self.reader
        const page = OncePage.page(texts, {
          title: texts.paymentWanted,
          detail: texts.creditsHint,
          shown: payment,
          back: `${home}?tab=credits`,
          area: "account"
        })
        return state.show(sent.self, page)
      }).pipe(
        Effect.catchTags({
          MalformedRequest: (refusal) =>
            account(state, sent.self, sent.caller, sentBack(sent, "credits", refusedFields(refusal))),
          CreditsOutOfRange: () => account(state, sent.self, sent.caller, sentBack(sent, "credits", ["credits"]))
        })
      ),
    "/portal/account/service-accounts": (sent) =>
      Effect.gen(function* () {
        const { name } = yield* readService({ name: sent.form["name"] ?? "" })
        const made = yield* Effect.catchTag(
          state.serviceAccounts.create(sent.caller.subject, name, undefined),
          "IdempotencyKeyReused",
          Effect.die
        )
        return secretPage(state, sent.self, made.client_id, made.secret)
      }).pipe(
        Effect.catchTag("MalformedRequest", () =>
          account(state, sent.self, sent.caller, sentBack(sent, "service", ["name"]))
        )
      ),
    "/portal/account/service-accounts/:client_id/rotate": (sent) =>
      Effect.map(state.serviceAccounts.rotate(sent.caller.subject, clientFrom(sent.at("client_id"))), ({ secret }) =>
        secretPage(state, sent.self, sent.at("client_id"), secret)
      ),
    "/portal/account/service-accounts/:client_id/delete": (sent) =>
      Effect.as(
        state.serviceAccounts.remove(sent.caller.subject, clientFrom(sent.at("client_id"))),
        seeOther(programs)
      ),
    "/portal/account/notice-mail": (sent) =>
      Effect.gen(function* () {
        const { email, subject } = sent.caller
        const isWanted = sent.form["enabled"] === "1"
        if (!state.mails.isConfigured) return yield* new RouteNotFound()
        if (isWanted && email === null)
          return yield* account(state, sent.self, sent.caller, sentBack(sent, "mail", ["enabled"]))
        // Mail goes to the address that the provider has verified, and to no other.
        if (email !== null) yield* state.domains.record(subject, email)
        yield* state.mails.set(subject, isWanted, sent.self.reader.texts.language === "de" ? "de" : "en")
        return seeOther(home)
      }),
    "/portal/account/applications/end": (sent) =>
      Effect.gen(function* () {
        const { subject } = sent.caller
        const application = sent.form["application"] ?? ""
        yield* state.realm.endConsent(subject, application)
        yield* state.audits.append(audit("application_ended", subject, application.slice(0, 300)))
        return seeOther(programs)
      }),
    "/portal/account/sessions/end-others": (sent) =>
      Effect.as(state.sessions.closeOthers(sent.caller.subject, sent.self.token), seeOther(home)),
    "/portal/account/sessions/:id/end": (sent) =>
      Effect.flatMap(state.sessions.closeOne(sent.caller.subject, sent.at("id")), (found) =>
        found ? Effect.succeed(seeOther(home)) : new SessionNotFound()
      ),
    "/portal/account/delete": (sent) =>
      Effect.gen(function* () {
        const { self } = sent
        const { texts } = self.reader
        if (sent.form["confirm"] !== "DELETE")
          return yield* account(state, self, sent.caller, sentBack(sent, "delete", ["confirm"]))
        yield* state.accounts.remove(sent.caller)
        const gone = { ...self, reader: { ...self.reader, signedIn: undefined, path: "/" } }
        const link = { href: "/", text: texts.toFront }
        const page = ProblemPage.page({
          title: texts.accountDeleted,
          detail: texts.accountDeletedText,
          links: [link]
        })
        return HttpServerResponse.expireCookieUnsafe(state.show(gone, page), portalSessionCookie, forHost)
      })
  } satisfies Readonly<Record<string, Submit>>
}))
