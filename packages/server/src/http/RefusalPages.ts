/** Refusals where people browse: a page for them, and the problem for a program that asks for JSON. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import * as Notice from "./NoticePage.ts"

type Response = HttpServerResponse.HttpServerResponse

export interface Refusal extends HttpServerRespondable.Respondable {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** Seconds after which it may be different. */
  readonly retry_after?: number
}

/** Says why a request was refused, and what can be done about it. */
export const refuse = (
  request: HttpServerRequest.HttpServerRequest,
  refusal: Refusal,
  links: ReadonlyArray<Notice.Link> = []
) =>
  Effect.map(
    /\bjson\b/u.test(request.headers["accept"] ?? "")
      ? HttpServerRespondable.toResponse(refusal)
      : Effect.succeed(
          HttpServerResponse.text(Notice.render({ title: refusal.title, detail: refusal.detail, links }), {
            status: refusal.status,
            contentType: Notice.contentType,
            headers: Notice.headers
          })
        ),
    refusal.retry_after !== undefined
      ? HttpServerResponse.setHeader("retry-after", String(refusal.retry_after))
      : (response: Response) => response
  )
