/** Pages for readers without a session, in the shell of the portal and the reader's language. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import type { BrowserRefusal } from "../../http/SameOrigin.ts"
import type { Texts } from "../texts/English.ts"
import { languageCookie, textsFor } from "./Language.ts"
import * as ProblemPage from "./ProblemPage.ts"
import { problemTexts } from "./ProblemTexts.ts"
import { type Page, render } from "./Shell.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Allows what the portal serves. */
const contentPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
  "frame-ancestors 'none'"

/** What a page leads on to, in the reader's words. */
export type Link = (texts: Texts) => ProblemPage.Link

/** The texts of the reader's language. */
export const textsOf = ({ cookies, headers }: Request): Texts =>
  textsFor(cookies[languageCookie], headers["accept-language"])

export interface Shown {
  readonly status?: number
  /** Where the switch of the language leads back to; without it there is none. */
  readonly back?: string
  /** Its form leads to the host of a tenant, as those of the gate do. */
  readonly isGate?: boolean
  /** What else is served than what a page has by itself. */
  readonly headers?: Readonly<Record<string, string>>
}

export const show = (texts: Texts, page: Page, { back, headers, isGate = false, status = 200 }: Shown = {}) =>
  HttpServerResponse.text(render({ texts, signedIn: undefined, isOperator: false, notices: 0, path: back }, page), {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": isGate ? contentPolicy : `${contentPolicy}; form-action 'self'`,
      "content-language": texts.language,
      vary: "accept-language, cookie",
      ...headers
    }
  })

/** Says why a request was refused and what can be done about it: on a page, or as a problem to a program that asks for JSON. */
export const refuse = (request: Request, refusal: BrowserRefusal, links: ReadonlyArray<Link> = [], about?: string) => {
  const texts = textsOf(request)
  const [title, detail] = problemTexts(texts, refusal)
  const again = ProblemPage.againOf(texts, refusal.retry_after)
  const page = ProblemPage.page({
    title,
    detail,
    again,
    links: links.map((link) => link(texts)),
    ...(about === undefined ? {} : { about })
  })
  return Effect.map(
    /\bjson\b/u.test(request.headers["accept"] ?? "")
      ? HttpServerRespondable.toResponse(refusal)
      : Effect.succeed(show(texts, page, { status: refusal.status })),
    (response) =>
      refusal.retry_after === undefined
        ? response
        : HttpServerResponse.setHeader(response, "retry-after", String(refusal.retry_after))
  )
}
