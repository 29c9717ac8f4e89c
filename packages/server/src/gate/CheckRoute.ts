/**
 * `GET /gate/check`: the proxy's question whether a visitor may pass. It is answered in headers. The visitor has a say in
 * the host, so one that cannot be read is not waved through as one without a gate.
 */
import { MalformedRequest } from "@catenet/domain/errors/Requests"
import { returnPath } from "@catenet/domain/rules/ShareLink"
import { Effect, Equal, Option, Predicate, Redacted } from "effect"
import { HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { Settings } from "../Settings.ts"
import { cookieOf, queryOf, readHost, sessionCookie } from "./Browser.ts"
import { Gate } from "./Gate.ts"
import { GateSignIns } from "./GateSignIns.ts"

const identityHeader = "x-gate-email"

/**
 * The host in a list, where it may stand with its port, which is nothing to the gate, and once for every proxy on the way.
 * Two different hosts are none.
 */
const hostIn = (text: string) => {
  const [host = Option.none(), ...others] = text.split(",").map((each) => readHost(each.trim().replace(/:\d*$/u, "")))
  return others.every((other) => Equal.equals(other, host)) ? host : Option.none()
}

/** A header takes no more than ASCII: what is beyond is percent-encoded, as in an address. */
const inAscii = (text: string) => text.replace(/[^\u0020-\u007e]/gu, encodeURIComponent)

const bearerOf = (header: string | undefined) =>
  Option.map(Option.fromNullishOr(/^Bearer (.+)$/u.exec(header ?? "")?.[1]), (text) => Redacted.make(text))

export const check = Effect.gen(function* () {
  const gate = yield* Gate
  const { available } = yield* GateSignIns
  const { portalBaseUrl } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers } = request
    // Some proxies hand on the visitor's headers beside a query of their own: neither may speak for the other.
    const asked = [headers["x-forwarded-host"], queryOf(request.url).get("host")].filter(Predicate.isNotNullish)
    const named = hostIn(asked.join(","))
    if (Option.isNone(named)) {
      const errors = [{ path: ["host"], message: "Expected one host, in x-forwarded-host or in the query" }]
      return yield* HttpServerRespondable.toResponse(new MalformedRequest({ errors }))
    }
    const host = named.value
    const bearer = bearerOf(headers["authorization"])
    const identity = yield* gate.identify({ host, session: cookieOf(request, sessionCookie), bearer })
    if (Option.isSome(identity))
      return HttpServerResponse.empty({ status: 200, headers: { [identityHeader]: inAscii(identity.value) } })
    if (!available) return HttpServerResponse.empty({ status: 401 })
    const start = new URL("/gate/start", portalBaseUrl)
    start.searchParams.set("host", host)
    start.searchParams.set("return", returnPath(headers["x-forwarded-uri"]))
    return HttpServerResponse.redirect(start.href, { status: 302 })
  })
})
