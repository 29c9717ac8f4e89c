/**
 * The API described: `/openapi.json` for programs, `/docs` for people. Both come from the API value, nothing is fetched. The
 * page stands in the shell; its routes are described in English.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { textOf } from "@catenet/domain/api/DescribedSchemas"
import { Markup, markup } from "@catenet/domain/values/Markup"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import type { ExtraRoutes } from "../http/AllowedMethods.ts"
import * as VisitorPages from "../portal/shell/VisitorPages.ts"
import type { Texts } from "../portal/texts/English.ts"
import * as DocsPage from "./ApiDocsPage.ts"
import * as Script from "./ApiDocsScript.ts"

export const addresses: ExtraRoutes = [
  ["GET", "/openapi.json"],
  ["GET", "/docs"],
  ["GET", Script.path]
]

const cached = { "cache-control": "public, max-age=300" }

const describe = () => {
  const document = OpenApi.fromApi(ControlPlaneApi)
  const content = new Markup(DocsPage.render(document))
  const page = (texts: Texts) =>
    VisitorPages.show(
      texts,
      {
        title: texts.apiDocs,
        isStill: true,
        script: Script.path,
        main: markup`<div class="reference" lang="en" data-try="${texts.tryIt}" data-send="${texts.trySend}" data-body="${texts.tryBody}"
          data-query="${texts.tryQuery}">${content}</div>`
      },
      { back: "/docs", headers: cached }
    )
  const made = new Map<string, HttpServerResponse.HttpServerResponse>()
  return {
    json: HttpServerResponse.text(textOf(document), { contentType: "application/json", headers: cached }),
    page: (texts: Texts) => {
      const answer = made.get(texts.language) ?? page(texts)
      made.set(texts.language, answer)
      return answer
    }
  }
}

/** Describing takes a fifth of the start and 4 MB, so it waits for who asks first; most replicas are never asked. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const described = yield* Effect.cached(Effect.sync(describe))
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.map(described, ({ json }) => json)
    )
    const docs = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.map(described, ({ page }) => page(VisitorPages.textsOf(request)))
    )
    yield* router.add("GET", "/docs", docs)
    const script = HttpServerResponse.text(Script.text, {
      contentType: "text/javascript; charset=utf-8",
      headers: { "cache-control": "public, max-age=31536000, immutable" }
    })
    yield* router.add("GET", Script.path, Effect.succeed(script))
  })
)
