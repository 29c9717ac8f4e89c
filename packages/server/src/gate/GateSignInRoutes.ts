/**
 * `GET /gate/start`, `/gate/callback` and `/gate/logout`: a visitor signs in for one gated host, and out again. They lead
 * only to hosts of tunnels here and to the provider; any other address leads to the platform itself.
 *
 * A sign-in that began at the host goes back there with a code. One that began here leaves a session at this address, and
 * the host, which does not know the visitor, sends it here again: then the session gives the code.
 */
import { GateNotConfigured, HostNotGated } from "@catenet/domain/tunnels/GateErrors"
import { returnPath } from "@catenet/domain/tunnels/GateVisit"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { cookieOf } from "../http/Cookies.ts"
import { Limits } from "../http/Limits.ts"
import { refusalOf, signInLifetime } from "../identity/PendingSignIns.ts"
import { refuse, type Link, textsOf } from "../portal/shell/VisitorPages.ts"
import { Settings } from "../settings/Settings.ts"
import { GateSessions, loginLifetime } from "../tunnels/GateSessions.ts"
import { Gate } from "./Gate.ts"
import * as Browser from "./GateBrowser.ts"
import { exitPath, GateCodes } from "./GateCodes.ts"
import { GateSignIns } from "./GateSignIns.ts"

/** A longer path is not remembered: it would not fit into the cookie. */
const longestPath = 2048

const gateAddress = (path: string, host: string, back?: string) =>
  `${path}?${new URLSearchParams({ host, ...(back === undefined ? {} : { return: back }) }).toString()}`

/** Another try, where the browser still knows what it wanted. It is checked like the first. */
const againFrom = (request: HttpServerRequest.HttpServerRequest): ReadonlyArray<Link> => {
  const [, host, path] = /^([^|]+)\|(.*)$/su.exec(request.cookies[Browser.targetCookie] ?? "") ?? []
  const named = Browser.readHost(host)
  if (Option.isNone(named)) return []
  const href = gateAddress("/gate/start", named.value, returnPath(path))
  return [({ tryAgain }) => ({ href, text: tryAgain })]
}

const seeOther = (address: string) => HttpServerResponse.redirect(address, { status: 303 })

export const start = Effect.gen(function* () {
  const signIns = yield* GateSignIns
  const sessions = yield* GateSessions
  const codes = yield* GateCodes
  const limits = yield* Limits
  const { budgetKey } = yield* ClientAddresses
  const { anonymousWritesPerMinute, gateCookieDomain } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = Browser.queryOf(request.url)
    const asked = returnPath(query.get("return") ?? "/")
    const path = asked.length > longestPath ? "/" : asked
    const browser = Option.getOrNull(Browser.readBrowser(query.get("browser")))
    const begun = Effect.gen(function* () {
      const named = Browser.readHost(query.get("host"))
      if (gateCookieDomain === undefined) return yield* new GateNotConfigured()
      if (Option.isNone(named)) return yield* signIns.available ? new HostNotGated() : new GateNotConfigured()
      const host = named.value
      yield* limits.take(`gate ${budgetKey(request)}`, anonymousWritesPerMinute)
      const session = Browser.sessionOf(request)
      if (browser !== null && Option.isSome(session)) {
        const visitor = yield* sessions.visitorOf(session.value, host)
        if (Option.isSome(visitor)) return seeOther(yield* codes.mint({ host, path, browser }, visitor.value))
      }
      const { secret, url } = yield* signIns.begin({ host, path, browser }, textsOf(request).language)
      return seeOther(url.href).pipe(Browser.withSignIn(secret, `${host}|${path}`, signInLifetime))
    })
    return yield* Effect.catchTag(begun, ["GateNotConfigured", "HostNotGated", "RateLimited"], (refusal) =>
      refuse(request, refusal)
    )
  })
})

export const callback = Effect.gen(function* () {
  const signIns = yield* GateSignIns
  const sessions = yield* GateSessions
  const codes = yield* GateCodes
  const { gateHostsPort: port } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = Browser.queryOf(request.url)
    const finished = Effect.gen(function* () {
      if (!signIns.available) return yield* new GateNotConfigured()
      const failed = refusalOf(query)
      if (failed !== undefined) return yield* failed
      const missing = ["code", "state"].filter((name) => (query.get(name) ?? "") === "")
      if (missing.length > 0) {
        return yield* new MalformedRequest({
          errors: missing.map((name) => ({ path: [name], message: "Expected a value" }))
        })
      }
      const secret = cookieOf(request, Browser.secretCookie)
      const { browser, host, path, visitor } = yield* signIns.finish({ secret, query })
      if (browser !== null) {
        return Browser.withoutSignIn(seeOther(yield* codes.mint({ host, path, browser }, visitor)))
      }
      return seeOther(Browser.addressAt({ host, port }, path)).pipe(
        Browser.withSession(yield* sessions.open(visitor, host), loginLifetime),
        Browser.withoutSignIn
      )
    })
    return yield* finished.pipe(
      Effect.catchTags({
        GateNotConfigured: (refusal) => refuse(request, refusal),
        HostNotGated: (refusal) => refuse(request, refusal),
        MalformedRequest: (refusal) => refuse(request, refusal, againFrom(request)),
        SignInRefused: (refusal) => refuse(request, refusal, againFrom(request)),
        SignInCancelled: (refusal) => refuse(request, refusal, againFrom(request)),
        SignInFailed: (refusal) => refuse(request, refusal, againFrom(request)),
        VisitorNotAllowed: (refusal) =>
          refuse(request, refusal, [
            ({ askOwner }) => ({ href: gateAddress("/gate/request-access", refusal.host), text: askOwner }),
            ...againFrom(request)
          ])
      })
    )
  })
})

/** Ends the session at this address, and leads to where the host's own ends. */
export const logout = Effect.gen(function* () {
  const gate = yield* Gate
  const sessions = yield* GateSessions
  const { gateCookieDomain, gateHostsPort, portalBaseUrl } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (gateCookieDomain === undefined) return yield* refuse(request, new GateNotConfigured())
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = Browser.queryOf(request.url)
    const session = Browser.sessionOf(request)
    if (Option.isSome(session)) yield* sessions.close(session.value)
    const named = Browser.readHost(query.get("host"))
    const isOurs = Option.isSome(named) && (yield* gate.knows(named.value))
    if (!isOurs) return Browser.withoutSession(seeOther(new URL(portalBaseUrl).href))
    const address = new URL(exitPath, `https://${named.value}:${gateHostsPort}`)
    address.searchParams.set("return", returnPath(query.get("return") ?? "/"))
    return Browser.withoutSession(seeOther(address.href))
  })
})
