/**
 * A form counts once: every page gives its forms a token, and a form that comes again with the same token and the same
 * fields, by a second click or a reload, is answered with the same page. A page that is too long to be kept is replaced by
 * a sentence that it counted.
 */
import { FormSentBefore } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Schema } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import type { Fields } from "./FormBody.ts"
import { Idempotency, type Keeping } from "./Idempotency.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The field of the token. */
export const tokenField = "once"
const token = /^[0-9a-f]{32}$/u

/** Characters of a page that are kept: one that shows a secret is shorter. */
const longestKept = 16_384

const Kept = Schema.NullOr(
  Schema.Struct({
    status: Schema.Int,
    headers: Schema.Record(Schema.String, Schema.String),
    cookies: Schema.Array(Schema.String),
    body: Schema.String
  })
)
type Kept = typeof Kept.Type

const textOf = ({ body }: Response): string => (body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "")

/** A refused form changed nothing and may be sent again. */
const write = (response: Response): Kept | undefined => {
  const { cookies, headers, status } = response
  if (status >= 400) return undefined
  const body = textOf(response)
  return body.length > longestKept
    ? null
    : { status, headers: { ...headers }, cookies: Cookies.toSetCookieHeaders(cookies), body }
}

const read = (kept: Kept): Option.Option<Response> => {
  if (kept === null) return Option.none()
  const { body, cookies, headers, status } = kept
  const contentType = headers["content-type"] ?? "text/html; charset=utf-8"
  const response =
    body === ""
      ? HttpServerResponse.empty({ status, headers })
      : HttpServerResponse.text(body, { status, headers, contentType })
  return Option.some(HttpServerResponse.mergeCookies(response, Cookies.fromSetCookie(cookies)))
}

const keeping: Keeping<Response, Kept, unknown> = { schema: Kept as Schema.Codec<Kept, unknown>, write, read }

export interface SentForm {
  /** An account, or the secret that the form brings: answers of two senders never meet. */
  readonly sender: string
  readonly path: string
  readonly fields: Fields
}

export const make = Effect.gen(function* () {
  const { atMostOnce } = yield* Idempotency
  /** Runs what a form asks for, unless it did so before; a form without a token always. */
  return <E, R>({ fields, path, sender }: SentForm, run: Effect.Effect<Response, E, R>) => {
    if (!token.test(fields[tokenField] ?? "")) return run
    const sent = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))
    const request = {
      caller: sender,
      operation: `form ${path}`,
      key: JSON.stringify(sent),
      request: null
    }
    return Effect.flatMap(atMostOnce(request, keeping, run), (found) =>
      Option.isSome(found) ? Effect.succeed(found.value) : new FormSentBefore()
    )
  }
})
