/**
 * What the operator tells the world: legal pages, `llms.txt`, `security.txt` and the metadata of RFC 9728. All come from
 * configuration and are read once. What is not configured and cannot be said without it is not there.
 */
import { Markup } from "@catenet/domain/values/Markup"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { DateTime, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { ExtraRoutes } from "../../http/AllowedMethods.ts"
import { Settings } from "../../settings/Settings.ts"
import * as VisitorPages from "../shell/VisitorPages.ts"
import { english, type Texts } from "../texts/English.ts"
import { german } from "../texts/German.ts"
import * as English from "./EnglishLegal.ts"
import * as German from "./GermanLegal.ts"
import * as Page from "./LegalPage.ts"
import * as LlmsTxt from "./LlmsTxt.ts"
import type { Operator } from "./Operator.ts"
import * as ProtectedResource from "./ProtectedResource.ts"
import * as SecurityTxt from "./SecurityTxt.ts"

export const addresses: ExtraRoutes = [
  ["GET", "/impressum"],
  ["GET", "/datenschutz"],
  ["GET", "/nutzungsbedingungen"],
  ["GET", "/llms.txt"],
  ["GET", "/.well-known/security.txt"],
  ["GET", "/.well-known/oauth-protected-resource"]
]

const cached = { "cache-control": "public, max-age=300" }
const plain = "text/plain; charset=utf-8"

/** The operator's own file in place of ours. */
const replaced = (folder: string | undefined, file: string) =>
  folder === undefined
    ? Effect.succeed(undefined)
    : Effect.tryPromise(() => readFile(join(folder, file), "utf8")).pipe(
        Effect.orElseSucceed((): string | undefined => undefined)
      )

const notThere = HttpServerRespondable.toResponse(new RouteNotFound())

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const settings = yield* Settings
    const {
      legalFolder,
      oidcIssuer: issuer,
      portalBaseUrl,
      securityContact: contact,
      securityPolicy: policy
    } = settings
    const { origin } = portalBaseUrl
    const operator: Operator = {
      name: settings.operatorName,
      address: settings.operatorAddress ?? [],
      email: settings.operatorEmail,
      phone: settings.operatorPhone,
      vatId: settings.operatorVatId,
      responsible: settings.operatorResponsible
    }

    const pages = [
      ["/impressum", "legalNotice", { de: German.impressum, en: English.impressum }],
      ["/datenschutz", "privacy", { de: German.datenschutz, en: English.datenschutz }],
      ["/nutzungsbedingungen", "terms", { de: German.nutzungsbedingungen, en: English.nutzungsbedingungen }]
    ] as const
    for (const [path, title, ours] of pages) {
      const theirs = yield* replaced(legalFolder, `${path.slice(1)}.html`)
      const answer = (texts: Texts) => {
        const own = texts.language === "de" ? ours.de : ours.en
        const body = theirs === undefined ? own(operator) : new Markup(theirs)
        return VisitorPages.show(texts, Page.page(texts[title], body), { back: path, headers: cached })
      }
      const answers = new Map([english, german].map((texts) => [texts.language, answer(texts)]))
      const chosen = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
        const texts = VisitorPages.textsOf(request)
        return answers.get(texts.language) ?? answer(texts)
      })
      yield* router.add("GET", path, chosen)
    }

    const { channelBrokerPort, meshEdgePort } = settings
    const llms =
      (yield* replaced(legalFolder, "llms.txt")) ?? LlmsTxt.render({ origin, issuer, meshEdgePort, channelBrokerPort })
    yield* router.add(
      "GET",
      "/llms.txt",
      Effect.succeed(HttpServerResponse.text(llms, { contentType: plain, headers: cached }))
    )

    yield* router.add(
      "GET",
      "/.well-known/security.txt",
      contact === undefined
        ? notThere
        : Effect.map(DateTime.now, (now) =>
            HttpServerResponse.text(SecurityTxt.render({ origin, contact, policy }, now), {
              contentType: plain,
              headers: cached
            })
          )
    )

    yield* router.add(
      "GET",
      "/.well-known/oauth-protected-resource",
      issuer === undefined
        ? notThere
        : Effect.succeed(
            HttpServerResponse.text(ProtectedResource.render({ origin, issuer }), {
              contentType: "application/json",
              headers: cached
            })
          )
    )
  })
)
