/**
 * Forms of the portal: a browser with a session posts one and is redirected to the page that shows the result, or gets
 * a page that explains the refusal. A form counts only if it was sent from the portal itself.
 */
import { Caller } from "@catenet/domain/api/Access"
import { CrossSiteRequest } from "@catenet/domain/identity/AuthenticationErrors"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Record, Schema, SchemaGetter, SchemaIssue } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Fields, memberFields } from "../http/FormBody.ts"
import * as FormDeduplication from "../http/FormDeduplication.ts"
import { type BrowserRefusal, isSameOrigin } from "../http/SameOrigin.ts"
import { EmailDomains } from "../identity/EmailDomains.ts"
import { Settings } from "../settings/Settings.ts"
import type { Sent } from "./shell/Field.ts"
import * as Visits from "./shell/Visits.ts"

export interface Submission {
  readonly self: Visits.Visit
  readonly caller: Caller["Service"]
  /** Values of the path's parameters. */
  readonly at: (name: string) => string
  readonly form: Fields
}

type Response = HttpServerResponse.HttpServerResponse

/** What is done with a form. */
export type Submit = (
  submission: Submission
) => Effect.Effect<Response, BrowserRefusal, HttpServerRequest.HttpServerRequest>

/** The page after a form that was taken. */
export const seeOther = (path: `/portal/${string}` | "/operators"): Response =>
  HttpServerResponse.redirect(path, { status: 303 })

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

/** Digits and nothing else: an empty field is no zero. */
export const wholeNumber = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^\s*-?\d{1,15}\s*$/u)),
  Schema.decodeTo(Schema.Int, { decode: SchemaGetter.transform(Number), encode: SchemaGetter.transform(String) })
)

/** A field that was left empty was not filled in. */
export const filled = (form: Fields): Fields =>
  Object.fromEntries(Object.entries(form).filter(([, text]) => text !== ""))

/** A form that was refused because of some of its fields, for the page on which it stands. */
export const sentBack = ({ form }: Submission, name: string, refused: ReadonlyArray<string>): Sent => ({
  form: name,
  fields: form,
  refused
})

/** The names of the fields that did not fit. */
export const refusedFields = ({ errors }: MalformedRequest): ReadonlyArray<string> => [
  ...new Set(errors.map(({ path }) => String(path[0] ?? "")))
]

/** The handler of a form. A visitor who is not signed in is redirected to the sign-in. */
export const serve = Effect.gen(function* () {
  const { forOperators, refused, visit } = yield* Visits.make
  const domains = yield* EmailDomains
  const { origin } = (yield* Settings).portalBaseUrl
  const once = yield* FormDeduplication.make

  /** What is done with a form of somebody whose session is known. */
  const taken = Effect.fnUntraced(function* (
    self: Visits.Visit,
    caller: Caller["Service"],
    submit: Submit,
    isQuestion = false
  ) {
    if (!isSameOrigin(self.request.headers, origin)) return yield* new CrossSiteRequest()
    const params = yield* HttpRouter.params
    const at = (name: string) => Option.getOrUndefined(Record.get(params, name)) ?? ""
    const form = yield* memberFields
    if (isQuestion) return yield* submit({ self, caller, at, form })
    return yield* once(
      { sender: caller.subject, path: self.request.url, fields: form },
      submit({ self, caller, at, form })
    )
  })

  const forMembers = (submit: Submit, isQuestion: boolean) =>
    Effect.gen(function* () {
      const self = yield* visit
      const { signedIn } = self.reader
      if (signedIn === undefined) return HttpServerResponse.redirect("/portal", { status: 303 })
      const { email, subject } = signedIn
      const caller = Caller.of({ subject, email, means: "session" })
      return yield* Effect.gen(function* () {
        yield* domains.require({ subject, email, client: undefined })
        return yield* taken(self, caller, submit, isQuestion)
      }).pipe(Effect.catch((refusal) => refused(self, refusal)))
    })
  return {
    forMembers,
    /** For everybody else there is nothing at the address of the form. */
    forOperators: (submit: Submit) => forOperators((self) => taken(self, self.caller, submit))
  }
})
