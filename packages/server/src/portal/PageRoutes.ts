/** The pages of the portal and the forms on them: which address shows what. */
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Record, Redacted } from "effect"
import { HttpRouter, HttpServerError, HttpServerResponse } from "effect/http"
import { fields } from "../http/FormBody.ts"
import type { ExtraRoutes } from "../http/Routes.ts"
import { Statuses } from "../observability/Statuses.ts"
import * as AccountPages from "./AccountPages.ts"
import { serve, type Submission, type Submit } from "./Forms.ts"
import { sessionCookie } from "./shell/SessionCookie.ts"
import { nextPath } from "./NextPath.ts"
import * as FrontPage from "./pages/FrontPage.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import * as SignOutPage from "./pages/SignOutPage.ts"
import { PortalSignIns } from "./PortalSignIns.ts"
import { isLanguage, languageCookie } from "./shell/Language.ts"
import * as Script from "./shell/Script.ts"
import * as Stylesheet from "./shell/Stylesheet.ts"
import * as TunnelPages from "./TunnelPages.ts"
import * as Visits from "./shell/Visits.ts"
import type { Refusal } from "../http/RefusalPages.ts"

const cookie = { path: "/", httpOnly: true, secure: true, sameSite: "lax" } as const

export const addresses: ExtraRoutes = [
  ["GET", "/"],
  ["GET", Stylesheet.path],
  ["GET", Script.path],
  ["GET", "/portal/home"],
  ["GET", "/portal/tunnels"],
  ["GET", "/portal/tunnels/:id"],
  ["GET", "/portal/tunnels/:id/delete"],
  ["GET", "/portal/tunnels/:id/install"],
  ["GET", "/portal/account"],
  ["GET", "/portal/logout"],
  ["POST", "/portal/logout"],
  ["POST", "/portal/language"],
  ["POST", "/portal/tunnels"],
  ["POST", "/portal/tunnels/:id/rename"],
  ["POST", "/portal/tunnels/:id/require-login"],
  ["POST", "/portal/tunnels/:id/delete"],
  ["POST", "/portal/tunnels/:id/install"],
  ["POST", "/portal/account/delete"],
  ["POST", "/portal/account/sessions/end-others"],
  ["POST", "/portal/account/sessions/:id/end"]
]

/** A file whose name holds its hash. */
const unchanging = (text: string, contentType: string) =>
  HttpServerResponse.text(text, {
    contentType: `${contentType}; charset=utf-8`,
    headers: { "cache-control": "public, max-age=31536000, immutable" }
  })

const parameter = (name: string) =>
  Effect.map(HttpRouter.params, (params) => Option.getOrUndefined(Record.get(params, name)) ?? "")

const toSignIn = () => "/portal"
const toSignInAndBack = (path: string) => `/portal?next=${encodeURIComponent(path)}`

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { forMembers, fromPortal, refused, show, visit } = yield* Visits.make
    const statuses = yield* Statuses
    const signIns = yield* PortalSignIns
    const tunnels = (yield* TunnelPages.make)(show)
    const account = (yield* AccountPages.make)(show)
    const served = yield* serve

    yield* router.add("GET", Stylesheet.path, Effect.succeed(unchanging(Stylesheet.text, "text/css")))
    yield* router.add("GET", Script.path, Effect.succeed(unchanging(Script.text, "text/javascript")))

    const front = Effect.gen(function* () {
      const self = yield* visit
      yield* statuses.answer
      const facts = {
        isSignedIn: self.reader.signedIn !== undefined,
        canSignIn: signIns.available,
        ...statuses.counts()
      }
      return show(self, FrontPage.page(self.reader.texts, facts))
    })
    yield* router.add("GET", "/", front)

    yield* router.add("GET", "/portal/home", forMembers(toSignIn, tunnels.pages.list))
    yield* router.add("GET", "/portal/tunnels", forMembers(toSignIn, tunnels.pages.list))
    const ofTunnel = (page: (self: Visits.Member, id: string) => Effect.Effect<Visits.Response, Refusal>) =>
      Effect.flatMap(parameter("id"), (id) => forMembers(toSignInAndBack, (self) => page(self, id)))
    yield* router.add("GET", "/portal/tunnels/:id", ofTunnel(tunnels.pages.one))
    yield* router.add("GET", "/portal/tunnels/:id/delete", ofTunnel(tunnels.pages.remove))
    yield* router.add("GET", "/portal/tunnels/:id/install", ofTunnel(tunnels.pages.connect))
    yield* router.add("GET", "/portal/account", forMembers(toSignInAndBack, account.page))

    const forms = { ...tunnels.forms, ...account.forms } satisfies Readonly<
      Record<string, (self: Visits.Visit) => (sent: Submission) => Effect.Effect<Visits.Response, Refusal>>
    >
    for (const [path, form] of Object.entries(forms)) {
      const answer = Effect.flatMap(visit, (self) => {
        const submit: Submit = (sent) =>
          form(self)(sent).pipe(Effect.catch((refusal: Refusal) => refused(self, refusal)))
        return served(submit)
      })
      yield* router.add("POST", path as `/${string}`, answer)
    }

    yield* router.add(
      "GET",
      "/portal/logout",
      Effect.map(visit, (self) =>
        self.reader.signedIn === undefined
          ? HttpServerResponse.redirect("/", { status: 303 }).pipe(
              HttpServerResponse.expireCookieUnsafe(sessionCookie, cookie)
            )
          : show(self, SignOutPage.page(self.reader.texts))
      )
    )
    const signOut = fromPortal(({ token }) =>
      Effect.map(Redacted.value(token) === "" ? Effect.succeedNone : signIns.end(token), (url) =>
        HttpServerResponse.redirect(Option.isSome(url) ? url.value.href : "/", { status: 303 }).pipe(
          HttpServerResponse.expireCookieUnsafe(sessionCookie, cookie)
        )
      )
    )
    yield* router.add("POST", "/portal/logout", signOut)

    const chosen = fromPortal(({ reader }) =>
      Effect.map(fields, ({ back, language }) => {
        const path = back === "/" || reader.signedIn === undefined ? "/" : nextPath(back)
        const response = HttpServerResponse.redirect(path, { status: 303 })
        return isLanguage(language)
          ? HttpServerResponse.setCookieUnsafe(response, languageCookie, language, { ...cookie, maxAge: "365 days" })
          : response
      })
    )
    yield* router.add("POST", "/portal/language", chosen)

    // What nothing else answers: a page for a browser; a program gets the problem that it always got.
    const nothing = Effect.gen(function* () {
      const self = yield* visit
      const { request } = self
      if (!Visits.wantsPage(request)) {
        return yield* new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
      }
      const { signedIn, texts } = self.reader
      const path = signedIn === undefined ? "/" : "/portal/tunnels"
      const link = { href: path, text: signedIn === undefined ? texts.toFront : texts.toTunnels }
      const page = ProblemPage.page({ title: texts.notFoundTitle, detail: texts.notFoundText, link })
      return show({ ...self, reader: { ...self.reader, path } }, page, new RouteNotFound().status)
    })
    yield* router.add("GET", "/portal/:page/*", nothing)
  })
)
