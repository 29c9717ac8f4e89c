/**
 * The addresses of the login gate, which are no part of the JSON API: they speak in headers, cookies, redirects and small
 * pages to visitors and to the proxy in front of them.
 */
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { HostNotGated } from "@catenet/domain/tunnels/GateErrors"
import { returnPath } from "@catenet/domain/tunnels/GateVisit"
import { Email } from "@catenet/domain/values/Email"
import { longestAccessNote } from "@catenet/domain/values/Quotas"
import { MalformedRequest, WrongShape } from "@catenet/domain/values/RequestErrors"
import { GateToken } from "@catenet/domain/values/Tokens"
import { Effect, Equal, Option, Predicate, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { cookieOf } from "../http/Cookies.ts"
import { fields } from "../http/FormBody.ts"
import { Limits } from "../http/Limits.ts"
import { signInLifetime } from "../identity/PendingSignIns.ts"
import type { Sent } from "../portal/shell/Field.ts"
import * as ProblemPage from "../portal/shell/ProblemPage.ts"
import { refuse, show as shown, textsOf } from "../portal/shell/VisitorPages.ts"
import { Settings } from "../settings/Settings.ts"
import { GateSessions } from "../tunnels/GateSessions.ts"
import { Gate } from "./Gate.ts"
import * as Browser from "./GateBrowser.ts"
import { entryPath, exitPath, GateCodes } from "./GateCodes.ts"
import * as Page from "./GatePage.ts"
import * as SignIn from "./GateSignInRoutes.ts"
import { GateSignIns } from "./GateSignIns.ts"
import * as Share from "./ShareRoute.ts"

/**
 * `GET /gate/check`: the question of a proxy beside the origin whether a visitor may pass. It is answered in headers. The
 * visitor has a say in the host, so one that cannot be read is not waved through as one without a gate.
 *
 * A visitor comes back from signing in with a code, and goes by an address of its own: the answers to these two give and
 * take the cookie of the host, and a proxy hands them on like every other that turns a visitor away.
 */
const identityHeader = "x-gate-email"

/**
 * The host in a list, where it may stand with its port, which is nothing to the gate, and once for every proxy on the way.
 * Two different hosts are none.
 */
const hostIn = (text: string) => {
  const [host = Option.none(), ...others] = text
    .split(",")
    .map((each) => Browser.readHost(each.trim().replace(/:\d*$/u, "")))
  return others.every((other) => Equal.equals(other, host)) ? host : Option.none()
}

const bearerOf = (header: string | undefined) =>
  Option.map(Option.fromNullishOr(/^Bearer (.+)$/u.exec(header ?? "")?.[1]), (text) => Redacted.make(text))

const readCode = Schema.decodeUnknownOption(GateToken)

/** Comes in by its code, or leaves; nothing for a visitor who does neither. */
const passage = Effect.gen(function* () {
  const codes = yield* GateCodes
  const sessions = yield* GateSessions
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, host: string) {
    const asked = Browser.queryPathOf(request.headers["x-forwarded-uri"] ?? "")
    const session = Browser.sessionOf(request)
    if (asked.path === exitPath) {
      if (Option.isSome(session)) yield* sessions.close(session.value, host)
      const back = returnPath(asked.query.get("return") ?? "/")
      return Option.some(Browser.withoutSession(HttpServerResponse.redirect(back, { status: 303 })))
    }
    const code = readCode(asked.query.get("code"))
    if (asked.path !== entryPath || Option.isNone(code)) return Option.none()
    const kept = cookieOf(request, Browser.browserCookie)
    const browser = Option.match(kept, { onNone: () => "", onSome: Browser.browserHash })
    const entered = codes.redeem({ host, browser, code: code.value }).pipe(
      Effect.map(({ path, seconds, session }) =>
        Browser.withSession(session, seconds)(HttpServerResponse.redirect(path, { status: 303 }))
      ),
      Effect.catchTag("GateCodeRefused", (refusal) =>
        refuse(request, refusal, [({ tryAgain }) => ({ href: "/", text: tryAgain })])
      )
    )
    return Option.some(yield* entered)
  })
})

const check = Effect.gen(function* () {
  const gate = yield* Gate
  const pass = yield* passage
  const random = yield* SecureRandom.SecureRandom
  const { available } = yield* GateSignIns
  const { portalBaseUrl } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers } = request
    // Some proxies hand on the visitor's headers beside a query of their own: neither may speak for the other.
    const asked = [headers["x-forwarded-host"], Browser.queryOf(request.url).get("host")].filter(Predicate.isNotNullish)
    const named = hostIn(asked.join(","))
    if (Option.isNone(named)) {
      const errors = [{ path: ["host"], message: "Expected one host, in x-forwarded-host or in the query" }]
      return yield* HttpServerRespondable.toResponse(new MalformedRequest({ errors }))
    }
    const host = named.value
    const bearer = bearerOf(headers["authorization"])
    const identity = yield* gate.identify({ host, session: Browser.sessionOf(request), bearer })
    const passing = identity.pipe(Option.exists((name) => name === "")) ? Option.none() : yield* pass(request, host)
    if (Option.isSome(passing)) return passing.value
    if (Option.isSome(identity))
      return HttpServerResponse.empty({ status: 200, headers: { [identityHeader]: identity.value } })
    if (!available) return HttpServerResponse.empty({ status: 401 })
    // The browser that began keeps what it has: it may have begun in two of its windows.
    const kept = Option.filter(cookieOf(request, Browser.browserCookie), (token) =>
      Option.isSome(readCode(Redacted.value(token)))
    )
    const token = Option.isSome(kept) ? kept.value : TokenEncoding.urlText(Redacted.make(yield* random.randomBytes(32)))
    const start = new URL("/gate/start", portalBaseUrl)
    start.searchParams.set("host", host)
    start.searchParams.set("return", returnPath(headers["x-forwarded-uri"]))
    start.searchParams.set("browser", Browser.browserHash(token))
    return Browser.withBrowser(token, signInLifetime)(HttpServerResponse.redirect(start.href, { status: 302 }))
  })
})

/**
 * `GET` and `POST /gate/request-access`: a visitor asks the owner of a gated host to be let in. The owner finds the request
 * among those of the tunnel. The answer does not say whether it was kept, or the visitor is let in already.
 */
const path = "/gate/request-access"

/** One line, cut off where it is too long. */
const noteOf = (text: string) =>
  Array.from(text.replace(/[\p{Cc}\p{Cs}]+/gu, " ").trim())
    .slice(0, longestAccessNote)
    .join("")

const readEmail = Schema.decodeUnknownOption(Email)

/** The form; with what was typed and why it was refused, where it was. */
const formPage = (request: HttpServerRequest.HttpServerRequest, host: string, sent?: Sent) => {
  const texts = textsOf(request)
  const page = Page.request(texts, { host, action: path, ...(sent === undefined ? {} : { sent }) })
  return shown(texts, page, { back: `${path}?host=${host}`, status: sent === undefined ? 200 : 400, isGate: true })
}

const show = Effect.gen(function* () {
  const gate = yield* Gate
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const named = Browser.readHost(Browser.queryOf(request.url).get("host"))
    const host = yield* Option.isSome(named) ? Effect.as(gate.of(named.value), named.value) : new HostNotGated()
    return formPage(request, host)
  }).pipe(
    Effect.catchTag("HostNotGated", (refusal) =>
      HttpServerRequest.HttpServerRequest.use((request) => refuse(request, refusal))
    )
  )
})

const wrong = (field: string, message: string) => new WrongShape({ errors: [{ path: [field], message }] })

const requestAccess = Effect.gen(function* () {
  const gate = yield* Gate
  const limits = yield* Limits
  const { budgetKey } = yield* ClientAddresses
  const { anonymousWritesPerMinute } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const answered = Effect.gen(function* () {
      yield* limits.take(`gate ${budgetKey(request)}`, anonymousWritesPerMinute)
      const given = yield* fields
      const named = Browser.readHost(
        yield* Effect.mapError(Effect.fromNullishOr(given["host"]), () => wrong("host", "Expected a value"))
      )
      const typed = given["email"] ?? ""
      const email = Option.getOrUndefined(readEmail(typed.trim()))
      if (Option.isNone(named)) return yield* new HostNotGated()
      if (email === undefined) {
        if (/\bjson\b/u.test(request.headers["accept"] ?? ""))
          return yield* wrong("email", "Expected an e-mail address")
        yield* gate.of(named.value)
        return formPage(request, named.value, { form: "access", fields: given, refused: ["email"] })
      }
      const asked = { email, note: noteOf(given["note"] ?? ""), from: budgetKey(request) }
      yield* gate.request(named.value, asked)
      const texts = textsOf(request)
      const detail = texts.accessAskedText(named.value, email)
      return shown(texts, ProblemPage.page({ title: texts.accessAsked, detail, links: [], isGood: true }))
    })
    return yield* Effect.catchTag(
      answered,
      ["BodyTooLarge", "HostNotGated", "RateLimited", "UnsupportedMediaType", "WrongShape"],
      (refusal) => refuse(request, refusal)
    )
  })
})

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", "/gate/check", yield* check)
    yield* router.add("GET", Share.path, yield* Share.share)
    yield* router.add("POST", Share.path, yield* Share.spend)
    yield* router.add("GET", "/gate/start", yield* SignIn.start)
    yield* router.add("GET", "/gate/callback", yield* SignIn.callback)
    yield* router.add("GET", "/gate/logout", yield* SignIn.logout)
    yield* router.add("GET", path, yield* show)
    yield* router.add("POST", path, yield* requestAccess)
  })
)
