/** Who visits a page of the portal, in which language, and how a page is answered. */
import { Caller } from "@catenet/domain/api/Access"
import { ChannelNotFound } from "@catenet/domain/channels/ChannelErrors"
import { CrossSiteRequest } from "@catenet/domain/identity/AuthenticationErrors"
import { NetworkUnknown, TopologyNotFound } from "@catenet/domain/topologies/TopologyErrors"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Ids"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { markup } from "@catenet/platform/Markup"
import { Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { portalSessionCookie } from "../../http/Cookies.ts"
import { type BrowserRefusal, isSameOrigin } from "../../http/SameOrigin.ts"
import { EmailDomains } from "../../identity/EmailDomains.ts"
import { Sessions } from "../../identity/Sessions.ts"
import { Notices } from "../../notices/Notices.ts"
import { over } from "../../runtime/Over.ts"
import { freshHex32 } from "../../runtime/TokenSecrets.ts"
import { Settings } from "../../settings/Settings.ts"
import { languageCookie, textsFor } from "./Language.ts"
import * as ProblemPage from "./ProblemPage.ts"
import { problemTexts } from "./ProblemTexts.ts"
import * as Saved from "./Saved.ts"
import { contentPolicy, type Page, type Reader, render } from "./Shell.ts"
import * as VisitorPages from "./VisitorPages.ts"

/** Who runs the platform: the accounts of the setting, by their subject or by their verified e-mail address. */
const among = (operators: ReadonlyArray<string> = []) => {
  const subjects = new Set(operators)
  const emails = new Set(operators.map(lowerAscii))
  return ({ email, subject }: { readonly subject: Subject; readonly email: Email | null }): boolean =>
    subjects.has(subject) || (email !== null && emails.has(lowerAscii(email)))
}

export interface Visit {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly reader: Reader
  /** The cookie of the session; empty where there is none. */
  readonly token: Redacted.Redacted
}

export interface Member extends Visit {
  readonly caller: Caller["Service"]
}

export type Response = HttpServerResponse.HttpServerResponse

/** A page for accounts; `at` gives the values of the path's parameters. */
export type MemberPage = (
  self: Member,
  at: (name: string) => string
) => Effect.Effect<Response, BrowserRefusal, HttpServerRequest.HttpServerRequest>

/** What belongs to another account is not there, and nor is what never was. */
const nothing = [RouteNotFound, TunnelNotFound, ChannelNotFound, TopologyNotFound, NetworkUnknown] as const

const dependencies = Effect.gen(function* () {
  const sessions = yield* Sessions
  const domains = yield* EmailDomains
  const notices = yield* Notices
  const { oidcAuthorizeUrl, oidcIssuer, operators, portalBaseUrl } = yield* Settings
  const isOperator = among(operators)
  const issuer = oidcIssuer === undefined ? null : URL.parse(oidcIssuer)
  const providers = [...new Set([issuer, oidcAuthorizeUrl ?? null].flatMap((url) => url?.origin ?? []))]
  const policy = contentPolicy(providers)
  const fresh = Effect.provideService(freshHex32, SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

  const visit = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const token = Redacted.make(request.cookies[portalSessionCookie] ?? "", { label: "portal session" })
    const found = Redacted.value(token) === "" ? Option.none() : yield* sessions.find(token)
    const texts = textsFor(request.cookies[languageCookie], request.headers["accept-language"])
    const path = request.url.replace(/[?#].*$/su, "")
    const signedIn = Option.getOrUndefined(found)
    const isUncounted = signedIn === undefined || path === "/portal/events"
    const reader = {
      texts,
      path,
      signedIn,
      isOperator: signedIn !== undefined && isOperator(signedIn),
      once: signedIn === undefined ? undefined : yield* fresh,
      notices: isUncounted ? 0 : yield* notices.count(signedIn)
    }
    return { request, token, reader } satisfies Visit
  })
  return { domains, policy, portalBaseUrl, providers, visit }
})
type State = Effect.Success<typeof dependencies>

const show = ({ policy, providers }: State, { reader, request }: Visit, page: Page, status = 200): Response => {
  const saved = status === 200 && reader.signedIn !== undefined ? Saved.sentence(reader.texts, request) : undefined
  const shown = saved === undefined ? page : { ...page, main: markup`${saved}${page.main}` }
  const response = HttpServerResponse.text(render(reader, shown), {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy":
        page.inline === undefined && page.sendsNothing !== true ? policy : contentPolicy(providers, page),
      "content-language": reader.texts.language,
      vary: "accept-language, cookie"
    }
  })
  return saved === undefined ? response : Saved.forget(response)
}

/** A refusal says nothing of the address, so that a foreign id and an unknown one are the same bytes. */
const refused = (state: State, self: Visit, refusal: BrowserRefusal): Effect.Effect<Response> => {
  if (/\bjson\b/u.test(self.request.headers["accept"] ?? "")) return VisitorPages.refuse(self.request, refusal)
  const { signedIn, texts } = self.reader
  const path = signedIn === undefined ? "/" : "/portal/tunnels"
  const link = { href: path, text: signedIn === undefined ? texts.toFront : texts.toTunnels }
  const [title, detail] = nothing.some((kind) => refusal instanceof kind)
    ? [texts.notFoundTitle, texts.notFoundText]
    : problemTexts(texts, refusal)
  const response = show(
    state,
    { ...self, reader: { ...self.reader, path } },
    ProblemPage.page({ title, detail, links: [link], again: ProblemPage.againOf(texts, refusal.retry_after) }),
    refusal.status
  )
  return Effect.succeed(
    refusal.retry_after === undefined
      ? response
      : HttpServerResponse.setHeader(response, "retry-after", String(refusal.retry_after))
  )
}

/** A page for accounts only. Without a session it leads to the sign-in. */
const forMembers = (
  state: State,
  signIn: (path: string) => string,
  page: (member: Member) => Effect.Effect<Response, BrowserRefusal, HttpServerRequest.HttpServerRequest>
) =>
  Effect.flatMap(state.visit, (self) => {
    const { signedIn } = self.reader
    if (signedIn === undefined)
      return Effect.succeed(HttpServerResponse.redirect(signIn(self.request.url), { status: 303 }))
    const { email, subject } = signedIn
    const caller = Caller.of({ subject, email, means: "session" })
    return state.domains.require({ subject, email, client: undefined }).pipe(
      Effect.andThen(page({ ...self, caller })),
      Effect.catch((refusal: BrowserRefusal) => refused(state, self, refusal))
    )
  })

/** What only operators find: for everybody else, signed in or not, there is nothing. */
const forOperators = <R>(state: State, use: (operator: Member) => Effect.Effect<Response, BrowserRefusal, R>) =>
  Effect.flatMap(state.visit, (self) => {
    const { isOperator: isOne, signedIn } = self.reader
    if (signedIn === undefined || !isOne) return refused(state, self, new RouteNotFound())
    const { email, subject } = signedIn
    return state.domains.require({ subject, email, client: undefined }).pipe(
      Effect.andThen(use({ ...self, caller: Caller.of({ subject, email, means: "session" }) })),
      Effect.catch((refusal: BrowserRefusal) => refused(state, self, refusal))
    )
  })

/** A form that counts without a session, too; only from the portal itself. */
const fromPortal = (
  state: State,
  use: (self: Visit) => Effect.Effect<Response, BrowserRefusal, HttpServerRequest.HttpServerRequest>
) =>
  Effect.flatMap(state.visit, (self) =>
    isSameOrigin(self.request.headers, state.portalBaseUrl.origin)
      ? use(self).pipe(Effect.catch((refusal) => refused(state, self, refusal)))
      : refused(state, self, new CrossSiteRequest())
  )

export const make = Effect.map(dependencies, (state) => ({
  ...over(state, { show, refused, forMembers, fromPortal }),
  visit: state.visit,
  forOperators: <R>(use: (operator: Member) => Effect.Effect<Response, BrowserRefusal, R>) => forOperators(state, use)
}))
