/** The API described: `/openapi.json` for programs, `/docs` for people. Both come from the API value, nothing is fetched. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect, Struct } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import type { ExtraRoutes } from "../http/Routes.ts"
import * as DocsPage from "./ApiDocsPage.ts"

export const addresses: ExtraRoutes = [
  ["GET", "/openapi.json"],
  ["GET", "/docs"]
]

const cached = { "cache-control": "public, max-age=300" }

const describe = () => {
  const document = OpenApi.fromApi(ControlPlaneApi)
  return {
    json: HttpServerResponse.text(JSON.stringify(document), { contentType: "application/json", headers: cached }),
    page: HttpServerResponse.text(DocsPage.render(document), {
      contentType: "text/html; charset=utf-8",
      headers: { ...cached, "content-security-policy": DocsPage.contentPolicy }
    })
  }
}

/** Describing takes a fifth of the start and 4 MB, so it waits for who asks first; most replicas are never asked. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const described = yield* Effect.cached(Effect.sync(describe))
    yield* router.add("GET", "/openapi.json", Effect.map(described, Struct.get("json")))
    yield* router.add("GET", "/docs", Effect.map(described, Struct.get("page")))
  })
)
