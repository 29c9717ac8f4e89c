/** Answers browsers with a page instead of a problem in JSON, when they follow a link or send a form. */
import { Option, Predicate, Schema } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ProblemPage from "./ProblemPage.ts"
import { textsOfCode } from "./ProblemTexts.ts"
import * as VisitorPages from "./VisitorPages.ts"

const readProblem = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      code: Schema.String,
      title: Schema.String,
      detail: Schema.String,
      retry_after: Schema.optionalKey(Schema.NullOr(Schema.Finite))
    })
  )
)

/** Whether a page is wanted, and not a problem as JSON. */
export const wantsPage = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /\btext\/html\b/u.test(headers["accept"] ?? "")

/** Headers that say what the body is. */
const ofBody: ReadonlySet<string> = new Set(["content-type", "content-length"])

export const asPage = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (!wantsPage(request) || body._tag !== "Uint8Array" || body.contentType !== "application/problem+json")
    return response
  const problem = Option.getOrUndefined(readProblem(new TextDecoder().decode(body.body)))
  if (problem === undefined) return response
  const texts = VisitorPages.textsOf(request)
  const [title, detail] = textsOfCode(texts, problem.code) ?? [problem.title, problem.detail]
  const header = response.headers["retry-after"]
  const seconds = problem.retry_after ?? (header === undefined ? undefined : Number(header))
  const again = ProblemPage.againOf(texts, seconds)
  const page = ProblemPage.page({ title, detail, again, links: [{ href: "/", text: texts.toFront }] })
  const kept = Object.entries(response.headers).filter(
    (entry): entry is [string, string] => !ofBody.has(entry[0]) && Predicate.isString(entry[1])
  )
  return VisitorPages.show(texts, page, { status: response.status, headers: Object.fromEntries(kept) })
}
