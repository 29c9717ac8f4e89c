/**
 * `GET /portal`, `/portal/login` and `/portal/callback`: sign-in to the portal.
 * They redirect, so they are not part of the JSON API; the session cookie that they set is.
 */
import { SignInNotConfigured } from "@catenet/domain/identity/AuthenticationErrors"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { markup } from "@catenet/platform/Markup"
import { Effect, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { cookieOf, forHost, portalSessionCookie } from "../http/Cookies.ts"
import { Limits } from "../http/Limits.ts"
import { refusalOf, signInLifetime } from "../identity/PendingSignIns.ts"
import { lifetime, Sessions } from "../identity/Sessions.ts"
import { type SocialProvider, socialProviders } from "../settings/IdentityVariables.ts"
import { Settings } from "../settings/Settings.ts"
import * as ProviderLinks from "./pages/ProviderLinks.ts"
import { nextPath, PortalSignIns } from "./PortalSignIns.ts"
import type { Page } from "./shell/Shell.ts"
import { refuse, show, textsOf } from "./shell/VisitorPages.ts"
import type { Texts } from "./texts/English.ts"

/** `/portal` where sign-in is not configured: what is missing, and the providers that are wanted. */
const entrancePage = (texts: Texts, providers: ReadonlyArray<SocialProvider>): Page => ({
  title: texts.entranceTitle,
  main: markup`<h1>${texts.entranceTitle}</h1>
    <div class="panel notice"><p>${texts.loginMissing}</p>${ProviderLinks.render(texts, providers)}
    <p><a href="/">${texts.toFront}</a></p></div>`
})

const secretCookie = "__Host-ct_portal_state"

/** The providers behind the provider that may be asked for by name. */
const shortcuts: ReadonlySet<string> = new Set(socialProviders)

const queryOf = ({ url }: HttpServerRequest.HttpServerRequest) => new URL(url, "http://localhost").searchParams

const again = [({ signInAgain }: Texts) => ({ href: "/portal/login", text: signInAgain })]

const login = Effect.gen(function* () {
  const signIns = yield* PortalSignIns
  const limits = yield* Limits
  const sessions = yield* Sessions
  const { budgetKey } = yield* ClientAddresses
  const { anonymousWritesPerMinute } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = queryOf(request)
    const session = cookieOf(request, portalSessionCookie)
    // The provider may still know a browser whose session was ended elsewhere, and would sign it in again unasked.
    const wasEnded = Option.isSome(session) && Option.isNone(yield* sessions.find(session.value))
    const shortcut = query.get("kc_idp_hint") ?? ""
    const address = query.get("login_hint") ?? ""
    const wishes = {
      ui_locales: textsOf(request).language,
      ...(wasEnded ? { prompt: "login" } : {}),
      ...(shortcuts.has(shortcut) ? { kc_idp_hint: shortcut } : {}),
      ...(address === "" ? {} : { login_hint: address })
    }
    return yield* limits.take(`sign-in ${budgetKey(request)}`, anonymousWritesPerMinute).pipe(
      Effect.andThen(signIns.begin(nextPath(query.get("next")), wishes, query.has("register"))),
      Effect.map(({ secret, url }) =>
        HttpServerResponse.redirect(url.href, { status: 303 }).pipe(
          HttpServerResponse.setCookieUnsafe(secretCookie, Redacted.value(secret), {
            ...forHost,
            maxAge: `${signInLifetime} seconds`
          })
        )
      ),
      Effect.catchTag(["RateLimited", "SignInNotConfigured"], (refusal) => refuse(request, refusal))
    )
  })
})

/** The sign-in, or, for whom that is behind, the page that was wanted. */
const entrance = Effect.gen(function* () {
  const sessions = yield* Sessions
  const { available } = yield* PortalSignIns
  const { socialProviders: providers = [] } = yield* Settings
  const begin = yield* login
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const session = cookieOf(request, portalSessionCookie)
    const found = Option.isSome(session) ? yield* sessions.find(session.value) : Option.none()
    if (Option.isNone(found) && !available && request.method !== "HEAD") {
      const texts = textsOf(request)
      return show(texts, entrancePage(texts, providers), { back: "/portal" })
    }
    if (Option.isNone(found)) return yield* begin
    const next = queryOf(request).get("next")
    return HttpServerResponse.redirect(next === null ? "/portal/tunnels" : nextPath(next), { status: 303 })
  })
})

const callback = Effect.gen(function* () {
  const signIns = yield* PortalSignIns
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = queryOf(request)
    const missing = ["code", "state"].filter((name) => (query.get(name) ?? "") === "")
    const errors = missing.map((name) => ({ path: [name], message: "Expected a value" }))
    const secret = cookieOf(request, secretCookie)
    const userAgent = request.headers["user-agent"] ?? ""
    const finished = Effect.gen(function* () {
      const failed = refusalOf(query)
      if (failed !== undefined && signIns.available) return yield* failed
      if (missing.length > 0 && signIns.available) return yield* new MalformedRequest({ errors })
      return yield* signIns.finish({ secret, query, userAgent })
    })
    return yield* finished.pipe(
      Effect.map(({ next, session }) =>
        HttpServerResponse.redirect(next, { status: 303 }).pipe(
          HttpServerResponse.setCookieUnsafe(portalSessionCookie, Redacted.value(session), {
            ...forHost,
            maxAge: `${lifetime} seconds`
          }),
          HttpServerResponse.expireCookieUnsafe(secretCookie, forHost)
        )
      ),
      Effect.catch((refusal) => refuse(request, refusal, refusal instanceof SignInNotConfigured ? [] : again))
    )
  })
})

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", "/portal", yield* entrance)
    yield* router.add("GET", "/portal/login", yield* login)
    yield* router.add("GET", "/portal/callback", yield* callback)
  })
)
