/** The API described: `/openapi.json` for programs, `/docs` for people. Both come from the API value, nothing is fetched. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import * as DocsPage from "./DocsPage.ts"
import type { Extra } from "./Routes.ts"

export const addresses: Extra = [
  ["GET", "/openapi.json"],
  ["GET", "/docs"]
]

const cached = { "cache-control": "public, max-age=300" }

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const document = OpenApi.fromApi(ControlPlaneApi)
    const json = HttpServerResponse.text(JSON.stringify(document), { contentType: "application/json", headers: cached })
    const page = HttpServerResponse.text(DocsPage.render(document), {
      contentType: "text/html; charset=utf-8",
      headers: { ...cached, "content-security-policy": DocsPage.contentPolicy }
    })
    yield* router.add("GET", "/openapi.json", Effect.succeed(json))
    yield* router.add("GET", "/docs", Effect.succeed(page))
  })
)
