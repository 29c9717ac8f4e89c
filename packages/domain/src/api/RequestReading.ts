/**
 * Refuses requests that cannot be read, with a precise 4xx and never with a defect.
 *
 * Every endpoint with path, query or header values has `ReadsParameters`; every endpoint with a body has `ReadsBody` or
 * `ReadsEdgeBody`. Statuses in order: 413 for a body above the limit, 415 for another media type, 400 for invalid JSON
 * or a malformed text, 422 for a missing member or one of the wrong type.
 */
import { ByteSize, Context, Effect, Layer, Result, Schema, SchemaIssue } from "effect"
import { HttpServerError, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiError, type HttpApiEndpoint, HttpApiMiddleware, OpenApi } from "effect/http-api"
import { notJson } from "../values/JsonText.ts"
import { isMalformedOnly } from "../values/Pattern.ts"
import {
  BodyTooLarge,
  MalformedRequest,
  type Refusal,
  UnsupportedMediaType,
  WrongShape
} from "../values/RequestErrors.ts"

/** The longest body that a route reads unless `BodyLimit` sets another limit. */
export const maxBodyBytes = 16 * 1024
/** The longest body of a route that takes a list or a long text. */
export const maxListBytes = 256 * 1024

/** Bytes that the body of an endpoint may have: an annotation for those that need more than `maxBodyBytes`. */
export const BodyLimit = Context.Reference<number>("domain/api/RequestReading/BodyLimit", {
  defaultValue: () => maxBodyBytes
})

/** The member of an operation in the OpenAPI document, before it is finished, that stands for `exactBody`. */
export const exactBodyMark = "x-exact-body"

/**
 * Annotations of an endpoint that refuses unknown members of its body by name, so that a misspelt or unsupported setting is
 * not ignored silently. Bodies that agents, edges or programs for other control planes send have none of it.
 */
export const exactBody = OpenApi.annotations({ override: { [exactBodyMark]: true } }).pipe(
  Context.add(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" })
)

/** Members of objects that a body may have in all, for each KiB of its limit. No route comes near it. */
const membersPerKib = 32

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]

/**
 * Whether a JSON text has more members than that. It is asked before the text is parsed: an object with ten thousands of
 * members takes a hundred times as long to read as a string of the same length.
 */
const hasMoreMembers = (text: string, most: number): boolean => {
  let members = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isInString) {
      if (code === backslash) at++
      else if (code === quote) isInString = false
    } else if (code === quote) isInString = true
    else if (code === colon && ++members > most) return true
  }
  return false
}

/** The most refusals that one answer lists. */
const listed = 20

const formatter = SchemaIssue.makeFormatterStandardSchemaV1()

/** One after the other, so that what is not listed is not put into words. */
function* refusalsIn(issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey>): Generator<Refusal> {
  if (issue._tag === "Encoding") yield* refusalsIn(issue.issue, path)
  else if (issue._tag === "Pointer") yield* refusalsIn(issue.issue, [...path, ...issue.path])
  else if ((issue._tag === "Composite" || issue._tag === "AnyOf") && issue.issues.length > 0)
    for (const inner of issue.issues) yield* refusalsIn(inner, path)
  else
    for (const { message, path: inner = [] } of formatter(issue).issues)
      yield { path: [...path, ...inner].map(segment), message }
}

const refusals = (issue: SchemaIssue.Issue): ReadonlyArray<Refusal> => refusalsIn(issue, []).take(listed).toArray()

const segment = (key: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const own = typeof key === "object" ? key.key : key
  return typeof own === "number" ? own : String(own)
}

/** Both readers of JSON bodies, the HTTP layer's and `JsonText`, say the same of a text that is none. */
const isUnreadable = (issue: SchemaIssue.Issue): boolean => {
  switch (issue._tag) {
    case "InvalidValue":
      return issue.annotations?.["message"] === notJson
    case "Encoding":
      return isUnreadable(issue.issue)
    case "AnyOf":
      return issue.issues.some(isUnreadable)
    default:
      return false
  }
}

const refuse = ({ kind, cause: { issue } }: Pick<HttpApiError.HttpApiSchemaError, "kind" | "cause">) =>
  kind !== "Payload" || isUnreadable(issue) || isMalformedOnly(issue)
    ? new MalformedRequest({ errors: refusals(issue) })
    : new WrongShape({ errors: refusals(issue) })

/** An answer of ours that does not fit its own schema is a fault, not the caller's: it stays what it is. */
const isTheirs = (error: unknown): error is HttpApiError.HttpApiSchemaError =>
  HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders"

/** An empty body is read as a missing value; to the caller it is a body that is not JSON. */
const refuseOrKeep = <E>(
  error: E
): Effect.Effect<never, E | MalformedRequest | WrongShape, HttpServerRequest.HttpServerRequest> => {
  if (!isTheirs(error)) return Effect.fail(error)
  const refusal = refuse(error)
  if (refusal._tag === "MalformedRequest") return Effect.fail(refusal)
  return HttpServerRequest.HttpServerRequest.pipe(
    Effect.flatMap((request) => Effect.orDie(request.text)),
    Effect.flatMap((text) =>
      Effect.fail(text === "" ? new MalformedRequest({ errors: [{ path: [], message: notJson }] }) : refusal)
    )
  )
}

/** Turns undecodable path, query and header values into `MalformedRequest`. */
export class ReadsParameters extends HttpApiMiddleware.Service<ReadsParameters>()(
  "domain/api/RequestReading/ReadsParameters",
  { error: MalformedRequest }
) {
  static readonly layer = HttpApiMiddleware.layerSchemaErrorTransform(this, (error) =>
    Effect.fail(isTheirs(error) ? new MalformedRequest({ errors: refusals(error.cause.issue) }) : error)
  )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const notUtf8 = new MalformedRequest({ errors: [{ path: [], message: "Expected a body in UTF-8" }] })

const tooManyMembers = new MalformedRequest({ errors: [{ path: [], message: "Expected a body with fewer members" }] })

/**
 * Reads the text of a request strictly: bytes that are not UTF-8 end it, and more members than a request of this length can
 * need. The framework's reader replaces such bytes by U+FFFD.
 */
const readsStrictly = (limit: number | undefined) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const text = Effect.suspend(() => request.arrayBuffer).pipe(
      Effect.flatMap((bytes) => Effect.try({ try: () => utf8.decode(bytes), catch: () => notUtf8 }).pipe(Effect.orDie)),
      Effect.tap((text) =>
        limit !== undefined && hasMoreMembers(text, (limit / 1024) * membersPerKib)
          ? Effect.die(tooManyMembers)
          : Effect.void
      )
    )
    Object.defineProperty(request, "text", { value: text, configurable: true })
  })

const readsBody = <E, R>(
  httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  endpoint: HttpApiEndpoint.Top,
  limit: number | undefined
) => {
  const read = Effect.andThen(readsStrictly(limit), httpEffect).pipe(
    Effect.flatMap((response) => acceptMediaType(response, endpoint)),
    Effect.catchDefect((defect) => acceptBytes(defect, limit ?? maxBodyBytes)),
    Effect.catch((error) => refuseOrKeep(error))
  )
  return limit === undefined
    ? read
    : Effect.provideService(read, HttpServerRequest.MaxBodySize, ByteSize.fromInputUnsafe(limit))
}

/** Turns an undecodable request, body included, into one of four problems. */
export class ReadsBody extends HttpApiMiddleware.Service<ReadsBody>()("domain/api/RequestReading/ReadsBody", {
  error: [MalformedRequest, BodyTooLarge, UnsupportedMediaType, WrongShape]
}) {
  static readonly layer = Layer.succeed(ReadsBody, (httpEffect, { endpoint }) =>
    readsBody(httpEffect, endpoint, Context.get(endpoint.annotations, BodyLimit))
  )
}

/** As `ReadsBody`, for the admin API of an edge, which knows no 415 and no 422: they are 400 there (data-plane 10.2). */
export class ReadsEdgeBody extends HttpApiMiddleware.Service<ReadsEdgeBody>()(
  "domain/api/RequestReading/ReadsEdgeBody",
  { error: [MalformedRequest, BodyTooLarge] }
) {
  static readonly layer = Layer.succeed(ReadsEdgeBody, (httpEffect, { endpoint }) =>
    readsBody(httpEffect, endpoint, undefined).pipe(
      Effect.mapError((error) => {
        if (error instanceof WrongShape) return new MalformedRequest({ errors: error.errors })
        if (!(error instanceof UnsupportedMediaType)) return error
        const message = `Expected a body sent as ${error.expected}`
        return new MalformedRequest({ errors: [{ path: [], message }] })
      })
    )
  )
}

const json = "application/json"

const parse = (text: string) =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new MalformedRequest({ errors: [{ path: [], message: notJson }] })
  })

/**
 * Reads a JSON body inside a raw handler, for a route that decides something before it looks at the body. It refuses as
 * `ReadsBody` does, which stands on the endpoint too and answers for a body beyond the limit.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { HttpServerRequest } from "effect/http"
 * import { readBody } from "@catenet/domain/api/RequestReading"
 *
 * const headers = { "content-type": "application/json" }
 * const request = new Request("http://localhost", { method: "POST", headers, body: "{}" })
 * const refused = await readBody(Schema.Struct({ n: Schema.Int })).pipe(
 *   Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
 *   Effect.flip,
 *   Effect.runPromise
 * )
 * if (refused._tag !== "WrongShape") throw new Error("a member is missing")
 * ```
 */
export const readBody = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all" })
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [mediaType = json] = (request.headers["content-type"] ?? json).split(";")
    if (mediaType.trim().toLowerCase() !== json) return yield* new UnsupportedMediaType({ expected: json })
    const body = yield* Effect.fromResult(parse(yield* Effect.orDie(request.text)))
    return yield* Effect.mapError(decode(body), (cause) => refuse({ kind: "Payload", cause }))
  })
}

/** The decoder answers a foreign media type itself, in plain text, before the handler runs. */
const acceptMediaType = (response: HttpServerResponse.HttpServerResponse, endpoint: HttpApiEndpoint.Top) =>
  response.status === 415 && !endpoint.error.has(UnsupportedMediaType)
    ? Effect.fail(new UnsupportedMediaType({ expected: [...endpoint.payload.keys()].join(" or ") }))
    : Effect.succeed(response)

/** Where the server limits bodies, one beyond the limit arrives as a defect of the reader, as one that is no text does. */
const acceptBytes = (defect: unknown, limit: number): Effect.Effect<never, BodyTooLarge | MalformedRequest> =>
  defect === notUtf8
    ? Effect.fail(notUtf8)
    : defect === tooManyMembers
      ? Effect.fail(tooManyMembers)
      : acceptLength(defect, limit)

const acceptLength = (defect: unknown, limit: number): Effect.Effect<never, BodyTooLarge> =>
  HttpServerError.isHttpServerError(defect) &&
  defect.reason._tag === "RequestParseError" &&
  defect.reason.reason === "BodyTooLarge"
    ? Effect.fail(new BodyTooLarge({ limit_bytes: limit }))
    : Effect.die(defect)
