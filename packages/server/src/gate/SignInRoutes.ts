/**
 * `GET /gate/start`, `/gate/callback` and `/gate/logout`: a visitor signs in for one gated host, and out again. They lead
 * only to hosts of tunnels here and to the provider; whatever else is asked for leads to the platform itself.
 */
import { GateNotConfigured, HostNotGated } from "@catenet/domain/errors/Gate"
import { MalformedRequest } from "@catenet/domain/errors/Requests"
import { returnPath } from "@catenet/domain/rules/ShareLink"
import { Effect, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { signInLifetime } from "../identityProvider/BegunSignIns.ts"
import { refusalOf } from "../identityProvider/ProviderError.ts"
import { Limits } from "../limits/Limits.ts"
import { refuse } from "../pages/Refusals.ts"
import { Settings } from "../Settings.ts"
import * as Browser from "./Browser.ts"
import { Gate } from "./Gate.ts"
import { loginLifetime, GateSessions } from "./GateSessions.ts"
import { GateSignIns } from "./GateSignIns.ts"

/** A longer path is not remembered: it would not fit into the cookie. */
const longestPath = 2048

const gateAddress = (path: string, host: string, back?: string) =>
  `${path}?${new URLSearchParams({ host, ...(back === undefined ? {} : { return: back }) }).toString()}`

/** Another try, where the browser still knows what it wanted. It is checked like the first. */
const againFrom = (request: HttpServerRequest.HttpServerRequest) => {
  const [, host, path] = /^([^|]+)\|(.*)$/su.exec(request.cookies[Browser.targetCookie] ?? "") ?? []
  const named = Browser.readHost(host)
  if (Option.isNone(named)) return []
  return [{ href: gateAddress("/gate/start", named.value, returnPath(path)), text: "Try again" }]
}

export const start = Effect.gen(function* () {
  const signIns = yield* GateSignIns
  const limits = yield* Limits
  const { budgetKey } = yield* ClientAddresses
  const { anonymousWritesPerMinute } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = Browser.queryOf(request.url)
    const asked = returnPath(query.get("return") ?? "/")
    const path = asked.length > longestPath ? "/" : asked
    const begun = Effect.gen(function* () {
      const named = Browser.readHost(query.get("host"))
      if (!signIns.available) return yield* new GateNotConfigured()
      if (Option.isNone(named)) return yield* new HostNotGated()
      yield* limits.take(`gate ${budgetKey(request)}`, anonymousWritesPerMinute)
      const { secret, url } = yield* signIns.begin(named.value, path)
      return HttpServerResponse.redirect(url.href, { status: 303 }).pipe(
        Browser.withSignIn(secret, `${named.value}|${path}`, signInLifetime)
      )
    })
    return yield* Effect.catchTag(begun, ["GateNotConfigured", "HostNotGated", "RateLimited"], (refusal) =>
      refuse(request, refusal)
    )
  })
})

export const callback = Effect.gen(function* () {
  const signIns = yield* GateSignIns
  const { gateCookieDomain } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = Browser.queryOf(request.url)
    const finished = Effect.gen(function* () {
      if (!signIns.available || gateCookieDomain === undefined) return yield* new GateNotConfigured()
      const failed = refusalOf(query)
      if (failed !== undefined) return yield* failed
      const missing = ["code", "state"].filter((name) => (query.get(name) ?? "") === "")
      if (missing.length > 0) {
        return yield* new MalformedRequest({
          errors: missing.map((name) => ({ path: [name], message: "Expected a value" }))
        })
      }
      const secret = Browser.cookieOf(request, Browser.secretCookie)
      const session = Browser.cookieOf(request, Browser.sessionCookie)
      const { host, path, token } = yield* signIns.finish({ secret, session, query })
      return HttpServerResponse.redirect(Browser.addressAt(host, path), { status: 303 }).pipe(
        Browser.withSession(gateCookieDomain, token, loginLifetime),
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
            { href: gateAddress("/gate/request-access", refusal.host), text: "Ask the owner for access" },
            ...againFrom(request)
          ])
      })
    )
  })
})

export const logout = Effect.gen(function* () {
  const gate = yield* Gate
  const sessions = yield* GateSessions
  const { gateCookieDomain, portalBaseUrl } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (gateCookieDomain === undefined) return yield* refuse(request, new GateNotConfigured())
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = Browser.queryOf(request.url)
    const session = Browser.cookieOf(request, Browser.sessionCookie)
    if (Option.isSome(session)) yield* sessions.close(session.value)
    const named = Browser.readHost(query.get("host"))
    const isOurs = Option.isSome(named) && (yield* gate.knows(named.value))
    const address = isOurs ? Browser.addressAt(named.value, query.get("return") ?? "/") : new URL(portalBaseUrl).href
    return HttpServerResponse.redirect(address, { status: 303 }).pipe(Browser.withoutSession(gateCookieDomain))
  })
})
