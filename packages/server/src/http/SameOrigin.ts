/**
 * A cookie goes wherever the browser sends it, so it counts on writes only when the request comes from the portal itself.
 * Tenants' hostnames are same-site siblings of the portal: "same-site" is refused too.
 */
import { Caller, SameOrigin } from "@catenet/domain/api/Access"
import { CrossSiteRequest } from "@catenet/domain/identity/AuthenticationErrors"
import { Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerRespondable } from "effect/http"
import { Settings } from "../settings/Settings.ts"

/** What a refusal has to say where people browse. */
export interface BrowserRefusal extends HttpServerRespondable.Respondable {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** Seconds after which it may be different. */
  readonly retry_after?: number
}

/** Browsers say where a request comes from; a request that says nothing is not from a page. */
export const isSameOrigin = (headers: Readonly<Record<string, string | undefined>>, origin: string): boolean => {
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site === "same-origin" || site === "none"
  return headers["origin"] === undefined || headers["origin"] === origin
}

export const layer = Layer.effect(
  SameOrigin,
  Effect.map(Settings, ({ portalBaseUrl }) =>
    SameOrigin.of((httpEffect) =>
      Effect.gen(function* () {
        const { means } = yield* Caller
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        if (means === "session" && !isSameOrigin(headers, portalBaseUrl.origin)) return yield* new CrossSiteRequest()
        return yield* httpEffect
      })
    )
  )
)
