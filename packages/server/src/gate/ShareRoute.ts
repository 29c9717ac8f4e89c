/** `GET /gate/share`: a visitor follows a share link. */
import { GateNotConfigured, HostNotGated } from "@catenet/domain/tunnels/GateErrors"
import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { refuse } from "../http/RefusalPages.ts"
import { Settings } from "../settings/Settings.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { addressAt, queryOf, readHost, withSession } from "./GateBrowser.ts"

export const share = Effect.gen(function* () {
  const links = yield* ShareLinks
  const { gateCookieDomain } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (gateCookieDomain === undefined) return yield* refuse(request, new GateNotConfigured())
    // A program that only wants to know whether the link leads anywhere must not use it up.
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = queryOf(request.url)
    const named = readHost(query.get("host"))
    if (Option.isNone(named)) return yield* refuse(request, new HostNotGated())
    const host = named.value
    return yield* links.redeem(host, Redacted.make(query.get("token") ?? "")).pipe(
      Effect.map(({ seconds, session }) =>
        HttpServerResponse.redirect(addressAt(host, query.get("return") ?? "/"), { status: 303 }).pipe(
          withSession(session, seconds)
        )
      ),
      Effect.catchTag(["HostNotGated", "ShareLinkRefused"], (refusal) => refuse(request, refusal))
    )
  })
})
