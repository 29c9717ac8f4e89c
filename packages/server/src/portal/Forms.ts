/**
 * Forms of the portal: a browser with a session posts one and is led to the page that shows what became of it, or gets a
 * page that says why not. A form counts only when it was sent from the portal itself.
 */
import { Caller } from "@catenet/domain/api/Access"
import { CrossSiteRequest } from "@catenet/domain/identity/AuthenticationErrors"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Record, Redacted, Schema, SchemaIssue } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { EmailDomains } from "../identity/EmailDomains.ts"
import { sessionCookie } from "./shell/SessionCookie.ts"
import { isSameOrigin } from "../http/SameOrigin.ts"
import { type Fields, fields } from "../http/FormBody.ts"
import * as Notice from "../http/NoticePage.ts"
import { type Refusal, refuse } from "../http/RefusalPages.ts"
import { Sessions } from "../identity/Sessions.ts"
import { Settings } from "../settings/Settings.ts"

export interface Submission {
  readonly caller: Caller["Service"]
  /** Values of the path's parameters. */
  readonly at: (name: string) => string
  readonly form: Fields
}

type Response = HttpServerResponse.HttpServerResponse

/** What is done with a form. */
export type Submit = (submission: Submission) => Effect.Effect<Response, Refusal>

/** The page after a form that was taken. */
export const seeOther = (path: `/portal/${string}`): Response => HttpServerResponse.redirect(path, { status: 303 })

/** What is shown once, and kept by no browser. */
export const notice = (title: string, detail: string, back: `/portal/${string}`): Response =>
  HttpServerResponse.text(Notice.render({ title, detail, links: [{ href: back, text: "Back" }] }), {
    contentType: Notice.contentType
  })

const formatter = SchemaIssue.makeFormatterStandardSchemaV1()

/** Fields by a schema; what does not fit is named by its field, never by what was sent. */
export const read = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all" })
  return (form: unknown): Effect.Effect<A, MalformedRequest> =>
    Effect.mapError(decode(form), ({ issue }) => {
      const { issues } = formatter(issue)
      return new MalformedRequest({
        errors: issues.map(({ message, path = [] }) => ({ path: path.map(String), message }))
      })
    })
}

/** The handler of a form. Whoever is not signed in is led to where that is done. */
export const serve = Effect.gen(function* () {
  const sessions = yield* Sessions
  const domains = yield* EmailDomains
  const { portalBaseUrl } = yield* Settings
  return (submit: Submit) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const session = request.cookies[sessionCookie] ?? ""
      const found = session === "" ? Option.none() : yield* sessions.find(Redacted.make(session))
      if (Option.isNone(found)) return HttpServerResponse.redirect("/portal", { status: 303 })
      const { email, subject } = found.value
      const taken = Effect.gen(function* () {
        if (!isSameOrigin(request.headers, portalBaseUrl.origin)) return yield* new CrossSiteRequest()
        yield* domains.require({ subject, email, client: undefined })
        const params = yield* HttpRouter.params
        const caller = Caller.of({ subject, email, means: "session" })
        return yield* submit({
          caller,
          at: (name) => Option.getOrUndefined(Record.get(params, name)) ?? "",
          form: yield* fields
        })
      })
      return yield* taken.pipe(Effect.catch((refusal) => refuse(request, refusal)))
    })
})
