/** Routes of the portal's pages and forms. */
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Record } from "effect"
import { HttpRouter, HttpServerError, HttpServerResponse } from "effect/http"
import * as Stylesheet from "../http/Stylesheet.ts"
import { Statuses } from "../observability/Statuses.ts"
import { Releases } from "../releases/Releases.ts"
import { Settings } from "../settings/Settings.ts"
import * as AccountPages from "./AccountPages.ts"
import * as Addresses from "./Addresses.ts"
import * as BridgeForms from "./BridgeForms.ts"
import * as BulkForm from "./BulkForm.ts"
import * as ChannelForms from "./ChannelForms.ts"
import * as ChannelPages from "./ChannelPages.ts"
import { serve, type Submit } from "./Forms.ts"
import * as InviteScript from "./invite/InviteScript.ts"
import * as OperatorPages from "./OperatorPages.ts"
import * as OverviewPages from "./OverviewPages.ts"
import * as FrontPage from "./pages/FrontPage.ts"
import * as JoinPage from "./pages/JoinPage.ts"
import * as VerifyReceiptsPage from "./pages/VerifyReceiptsPage.ts"
import { PortalSignIns } from "./PortalSignIns.ts"
import * as VerifierScript from "./receipts/VerifierScript.ts"
import * as RecordPages from "./RecordPages.ts"
import * as SearchPage from "./SearchPage.ts"
import * as SessionRoutes from "./SessionRoutes.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import { wantsPage } from "./shell/ProblemResponses.ts"
import * as Saved from "./shell/Saved.ts"
import * as Script from "./shell/Script.ts"
import * as Visits from "./shell/Visits.ts"
import * as TopologyPages from "./TopologyPages.ts"
import * as TunnelForms from "./TunnelForms.ts"
import * as TunnelPages from "./TunnelPages.ts"

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
  const { portalBaseUrl, socialProviders: providers = [] } = yield* Settings
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
      command: yield* releases.command,
      origin: portalBaseUrl.origin,
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
    ...(yield* SearchPage.make),
    ...(yield* RecordPages.make),
    ...(yield* ChannelPages.make).pages,
    ...bridges.pages,
    ...topologies.pages
  } satisfies Readonly<Record<Addresses.PagePath, Visits.MemberPage>>
  const forms = {
    ...tunnels.forms,
    ...(yield* TunnelForms.make),
    ...(yield* BulkForm.make),
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
  const eventsFile = yield* RecordPages.eventsFile
  yield* router.add(
    "GET",
    "/portal/fleet/events.csv",
    forMembers(toSignInAndBack, (self) => eventsFile(self, () => ""))
  )
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
    yield* SessionRoutes.add(router, visits)
    yield* router.add("GET", "/portal/:page/*", notThere(visits))
  })
)
