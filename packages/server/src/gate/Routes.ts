/**
 * The two addresses of the login gate that answer without a page of the portal: the proxy's question, and a share link.
 * They speak in headers, cookies and redirects, so they are no part of the JSON API.
 */
import { GateNotConfigured, HostNotGated, type ShareLinkRefused } from "@catenet/domain/errors/Gate"
import { MalformedRequest } from "@catenet/domain/errors/Requests"
import { Hostname } from "@catenet/domain/Hostname"
import { returnPath } from "@catenet/domain/rules/ShareLink"
import { Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import type { Extra } from "../http/Routes.ts"
import { Settings } from "../Settings.ts"
import { ShareLinks } from "../shareLinks/ShareLinks.ts"
import { Gate } from "./Gate.ts"
import * as Page from "./Page.ts"

export const addresses: Extra = [
  ["GET", "/gate/check"],
  ["GET", "/gate/share"]
]

/** The cookie of a visitor's session, for the whole zone: the session itself is for one host. */
export const cookieName = "ct_gate_session"

const identityHeader = "x-gate-email"

const queryOf = (url: string) => new URL(url, "http://localhost").searchParams

/** What is no host name is the name of no gate. */
const readHost = Schema.decodeUnknownOption(Hostname)

/** A header takes no more than ASCII; the path is written as a browser would write it. */
const addressAt = (host: string, path: string) => new URL(returnPath(path), `https://${host}`).href

const notEmpty = (text: string | undefined) =>
  text === undefined || text === "" ? Option.none<Redacted.Redacted>() : Option.some(Redacted.make(text))

/** Visitors get a page; a program that asks for JSON gets the problem. */
const refusal =
  (request: HttpServerRequest.HttpServerRequest) => (problem: GateNotConfigured | HostNotGated | ShareLinkRefused) =>
    /\bjson\b/u.test(request.headers["accept"] ?? "")
      ? HttpServerRespondable.toResponse(problem)
      : Effect.succeed(
          HttpServerResponse.text(Page.render(problem), { status: problem.status, contentType: Page.contentType })
        )

const check = Effect.gen(function* () {
  const gate = yield* Gate
  const { gateCookieDomain, oidcIssuer, portalBaseUrl } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers } = request
    const asked = headers["x-forwarded-host"] ?? queryOf(request.url).get("host") ?? ""
    if (asked === "") {
      const errors = [{ path: ["host"], message: "Expected a host, in x-forwarded-host or in the query" }]
      return yield* HttpServerRespondable.toResponse(new MalformedRequest({ errors }))
    }
    const named = readHost(asked)
    if (Option.isNone(named)) return HttpServerResponse.empty({ status: 200, headers: { [identityHeader]: "" } })
    const host = named.value
    const identity = yield* gate.identify({
      host,
      session: notEmpty(request.cookies[cookieName]),
      bearer: notEmpty(/^Bearer (.+)$/u.exec(headers["authorization"] ?? "")?.[1])
    })
    if (Option.isSome(identity))
      return HttpServerResponse.empty({ status: 200, headers: { [identityHeader]: identity.value } })
    if (gateCookieDomain === undefined || oidcIssuer === undefined) return HttpServerResponse.empty({ status: 401 })
    const start = new URL("/gate/start", portalBaseUrl)
    start.searchParams.set("host", host)
    start.searchParams.set("return", returnPath(headers["x-forwarded-uri"]))
    return HttpServerResponse.redirect(start.href, { status: 302 })
  })
})

const share = Effect.gen(function* () {
  const links = yield* ShareLinks
  const { gateCookieDomain } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const refuse = refusal(request)
    if (gateCookieDomain === undefined) return yield* refuse(new GateNotConfigured())
    // A program that only wants to know whether the link leads anywhere must not use it up.
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = queryOf(request.url)
    const named = readHost(query.get("host"))
    if (Option.isNone(named)) return yield* refuse(new HostNotGated())
    const host = named.value
    return yield* links.redeem(host, Redacted.make(query.get("token") ?? "")).pipe(
      Effect.flatMap(({ seconds, session }) =>
        Effect.orDie(
          HttpServerResponse.setCookie(
            HttpServerResponse.redirect(addressAt(host, query.get("return") ?? "/"), { status: 303 }),
            cookieName,
            Redacted.value(session),
            {
              domain: gateCookieDomain,
              path: "/",
              maxAge: `${seconds} seconds`,
              httpOnly: true,
              secure: true,
              sameSite: "lax"
            }
          )
        )
      ),
      Effect.catchTag(["HostNotGated", "ShareLinkRefused"], refuse)
    )
  })
})

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", "/gate/check", yield* check)
    yield* router.add("GET", "/gate/share", yield* share)
  })
)
