/** Routes of the portal's pages and forms. */
import { publicAddress } from "@catenet/domain/tunnels/Tunnel"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { markup } from "@catenet/platform/Markup"
import { Effect, Option, Record, Redacted } from "effect"
import { HttpRouter, HttpServerError, HttpServerResponse } from "effect/http"
import { forHost, portalSessionCookie } from "../http/Cookies.ts"
import { fields } from "../http/FormBody.ts"
import * as Stylesheet from "../http/Stylesheet.ts"
import { NoticeMails } from "../notices/mail/NoticeMails.ts"
import { Notices } from "../notices/Notices.ts"
import { Statuses } from "../observability/Statuses.ts"
import { Releases } from "../releases/Releases.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { Records } from "../tunnels/records/Records.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import * as AccountPages from "./AccountPages.ts"
import * as Addresses from "./Addresses.ts"
import * as BridgeForms from "./BridgeForms.ts"
import * as ChannelForms from "./ChannelForms.ts"
import * as ChannelPages from "./ChannelPages.ts"
import { serve, type Submit } from "./Forms.ts"
import * as InviteScript from "./invite/InviteScript.ts"
import * as OperatorPages from "./OperatorPages.ts"
import * as OverviewPages from "./OverviewPages.ts"
import * as FleetPage from "./pages/FleetPage.ts"
import * as FrontPage from "./pages/FrontPage.ts"
import * as JoinPage from "./pages/JoinPage.ts"
import * as NoticesPage from "./pages/NoticesPage.ts"
import * as UptimePage from "./pages/UptimePage.ts"
import * as UsagePage from "./pages/UsagePage.ts"
import * as VerifyReceiptsPage from "./pages/VerifyReceiptsPage.ts"
import { nextPath, PortalSignIns } from "./PortalSignIns.ts"
import * as VerifierScript from "./receipts/VerifierScript.ts"
import { isLanguage, languageCookie } from "./shell/Language.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import { wantsPage } from "./shell/ProblemResponses.ts"
import * as Saved from "./shell/Saved.ts"
import * as Script from "./shell/Script.ts"
import type { Page } from "./shell/Shell.ts"
import * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"
import * as TopologyPages from "./TopologyPages.ts"
import { idFrom } from "./TunnelDetail.ts"
import * as TunnelForms from "./TunnelForms.ts"
import * as TunnelPages from "./TunnelPages.ts"

/** `/portal/logout`: a button, because a link or a picture elsewhere must not sign anybody out. */
const signOutPage = (texts: Texts): Page => ({
  title: texts.signOutTitle,
  main: markup`<h1>${texts.signOutTitle}</h1>
    <form class="panel pad" method="post" action="/portal/logout">
      <p>${texts.signOutText}</p>
      <p class="row"><button class="primary">${texts.signOut}</button>
      <a class="button" href="/portal/tunnels">${texts.cancel}</a></p>
    </form>`
})

/** The pages of what the edges recorded: uptime of one tunnel, usage and state of all. */
const recordRoutes = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  const records = yield* Records
  const badges = yield* Badges
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

// Where a switch of the language leads back to: the page on which it stands, and nowhere else.

/** Pages that need no session, and those outside `/portal`, on which a switch stands. Each of them says itself what its reader may see. */
const outside = [
  /^\/$/u,
  /^\/(?:docs|operators|impressum|datenschutz|nutzungsbedingungen|portal|portal\/receipts)$/u,
  /^\/net\/[0-9a-f-]{1,64}$/u,
  /^\/me\/topologies\/[0-9a-f]{32}\/editor$/u,
  /^\/gate\/request-access\?host=[a-z0-9.-]{1,253}$/u
]

export const backPath = (text: string | undefined, isSignedIn: boolean): string => {
  if (text !== undefined && outside.some((pattern) => pattern.test(text))) return text
  return isSignedIn ? nextPath(text) : "/"
}

/** A file whose name holds its hash. */
const unchanging = (text: string, contentType: string) =>
  HttpServerResponse.text(text, {
    contentType: `${contentType}; charset=utf-8`,
    headers: { "cache-control": "public, max-age=31536000, immutable" }
  })

const toSignIn = () => "/portal"
const toSignInAndBack = (path: string) => `/portal?next=${encodeURIComponent(path)}`

type Router = HttpRouter.HttpRouter
type Made = Effect.Success<typeof Visits.make>

/** Files of the pages, and the pages that need no account. */
const addPublic = Effect.fnUntraced(function* (router: Router, { show, visit }: Made) {
  const statuses = yield* Statuses
  const signIns = yield* PortalSignIns
  const { socialProviders: providers = [] } = yield* Settings
  const releases = yield* Releases
  yield* router.add("GET", Stylesheet.path, Effect.succeed(unchanging(Stylesheet.text, "text/css")))
  yield* router.add("GET", Script.path, Effect.succeed(unchanging(Script.text, "text/javascript")))

  for (const [path, text] of [...VerifierScript.scripts, ...InviteScript.scripts])
    yield* router.add("GET", path, Effect.succeed(unchanging(text, "text/javascript")))
  const verification = Effect.map(visit, (self) => show(self, VerifyReceiptsPage.page(self.reader.texts)))
  yield* router.add("GET", VerifyReceiptsPage.address, verification)
  const joining = Effect.gen(function* () {
    const self = yield* visit
    return show(self, JoinPage.page(self.reader.texts, yield* releases.joining))
  })
  yield* router.add("GET", JoinPage.address, joining)

  const front = Effect.gen(function* () {
    const self = yield* visit
    yield* statuses.answer
    const facts = {
      isSignedIn: self.reader.signedIn !== undefined,
      canSignIn: signIns.available,
      providers,
      ...statuses.counts()
    }
    return show(self, FrontPage.page(self.reader.texts, facts))
  })
  yield* router.add("GET", "/", front)
})

/** The pages of an account, and the forms on them. */
const addMembers = Effect.fnUntraced(function* (router: Router, { forMembers }: Made) {
  const tunnels = yield* TunnelPages.make
  const account = yield* AccountPages.make
  const bridges = yield* BridgeForms.make
  const topologies = yield* TopologyPages.make
  const memberPages = {
    ...tunnels.pages,
    ...account.pages,
    ...(yield* OverviewPages.make),
    ...(yield* recordRoutes),
    ...(yield* noticeRoutes),
    ...(yield* ChannelPages.make).pages,
    ...bridges.pages,
    ...topologies.pages
  } satisfies Readonly<Record<Addresses.PagePath, Visits.MemberPage>>
  const forms = {
    ...tunnels.forms,
    ...(yield* TunnelForms.make),
    ...bridges.forms,
    ...account.forms,
    ...(yield* ChannelForms.make),
    ...topologies.forms
  } satisfies Readonly<Record<Addresses.FormPath, Submit>>
  const served = yield* serve
  for (const path of Addresses.pages) {
    const signIn = path === "/portal/home" || path === "/portal/tunnels" ? toSignIn : toSignInAndBack
    const page: Visits.MemberPage = memberPages[path]
    const answer = Effect.flatMap(HttpRouter.params, (params) =>
      forMembers(signIn, (self) => page(self, (name) => Option.getOrUndefined(Record.get(params, name)) ?? ""))
    )
    yield* router.add("GET", path, answer)
  }
  for (const path of Addresses.forms)
    yield* router.add(
      "POST",
      path,
      Effect.map(served.forMembers(forms[path], Addresses.questions.has(path)), (response) =>
        Saved.remember(path, response)
      )
    )
})

const addOperators = Effect.fnUntraced(function* (router: Router, { forOperators }: Made) {
  const operators = yield* OperatorPages.make
  const served = yield* serve
  for (const path of Addresses.operatorPages)
    yield* router.add(
      "GET",
      path,
      forOperators((self) => operators.pages[path](self))
    )
  for (const path of Addresses.operatorForms)
    yield* router.add("POST", path, served.forOperators(operators.forms[path]))
})

/** The end of a session, and the language of the reader. */
const addSession = Effect.fnUntraced(function* (router: Router, { fromPortal, show, visit }: Made) {
  const signIns = yield* PortalSignIns
  const mails = yield* NoticeMails
  yield* router.add(
    "GET",
    "/portal/logout",
    Effect.map(visit, (self) =>
      self.reader.signedIn === undefined
        ? HttpServerResponse.redirect("/", { status: 303 }).pipe(
            HttpServerResponse.expireCookieUnsafe(portalSessionCookie, forHost)
          )
        : show(self, signOutPage(self.reader.texts))
    )
  )
  const signOut = fromPortal(({ reader, token }) =>
    Effect.map(Redacted.value(token) === "" ? Effect.succeedNone : signIns.end(token, reader.texts.language), (url) =>
      HttpServerResponse.redirect(Option.isSome(url) ? url.value.href : "/", { status: 303 }).pipe(
        HttpServerResponse.expireCookieUnsafe(portalSessionCookie, forHost)
      )
    )
  )
  yield* router.add("POST", "/portal/logout", signOut)

  const chosen = fromPortal(({ reader }) =>
    Effect.gen(function* () {
      const { back, language } = yield* fields
      const path = backPath(back, reader.signedIn !== undefined)
      const response = HttpServerResponse.redirect(path, { status: 303 })
      if (!isLanguage(language)) return response
      if (reader.signedIn !== undefined) yield* mails.setLanguage(reader.signedIn.subject, language)
      return HttpServerResponse.setCookieUnsafe(response, languageCookie, language, {
        ...forHost,
        maxAge: "365 days"
      })
    })
  )
  yield* router.add("POST", "/portal/language", chosen)
})

/** What nothing else answers: a page for a browser; a program gets the problem that it always got. */
const notThere = ({ show, visit }: Made) =>
  Effect.gen(function* () {
    const self = yield* visit
    const { request } = self
    if (!wantsPage(request)) {
      return yield* new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
    }
    const { signedIn, texts } = self.reader
    const path = signedIn === undefined ? "/" : "/portal/tunnels"
    const link = { href: path, text: signedIn === undefined ? texts.toFront : texts.toTunnels }
    const page = ProblemPage.page({ title: texts.notFoundTitle, detail: texts.notFoundText, links: [link] })
    return show({ ...self, reader: { ...self.reader, path } }, page, new RouteNotFound().status)
  })

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const visits = yield* Visits.make
    yield* addPublic(router, visits)
    yield* addMembers(router, visits)
    yield* addOperators(router, visits)
    yield* addSession(router, visits)
    yield* router.add("GET", "/portal/:page/*", notThere(visits))
  })
)
