/** Refusals that any route may give, before the route's own rules are asked. */
import { Schema } from "effect"
import { Count } from "./Numbers.ts"
import { Problem } from "./Problem.ts"

/** One value of a request that was refused: where it stands and what was expected there. Never what was sent. */
export const Refusal = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Number])),
  message: Schema.String
})
export type Refusal = typeof Refusal.Type

const sentences = (lead: string, refusals: ReadonlyArray<Refusal>): string =>
  refusals.length === 0 ? `${lead}.` : `${lead}: ${refusals.map(sentence).join("; ")}.`

const sentence = ({ path, message }: Refusal): string => (path.length === 0 ? message : `${path.join(".")}: ${message}`)

/** The request cannot be parsed: the body is not JSON, or a path, query or header value or a text is malformed. */
export class MalformedRequest extends Problem<MalformedRequest>()(
  "MalformedRequest",
  {
    status: 400,
    title: "Malformed request",
    detail: ({ errors }) => sentences("The request cannot be read", errors)
  },
  { errors: Schema.Array(Refusal) }
) {}

/** The body is JSON, but a member is missing or has the wrong type. */
export class WrongShape extends Problem<WrongShape>()(
  "WrongShape",
  {
    status: 422,
    title: "Wrong shape",
    detail: ({ errors }) => sentences("The body does not have the expected shape", errors)
  },
  { errors: Schema.Array(Refusal) }
) {}

/** The route does not accept the media type of the body. */
export class UnsupportedMediaType extends Problem<UnsupportedMediaType>()(
  "UnsupportedMediaType",
  {
    status: 415,
    title: "Unsupported media type",
    detail: ({ expected }) => `The body must be sent as ${expected}.`
  },
  { expected: Schema.String }
) {}

/** The body is longer than the route accepts. */
export class BodyTooLarge extends Problem<BodyTooLarge>()(
  "BodyTooLarge",
  {
    status: 413,
    title: "Body too large",
    detail: ({ limit_bytes }) => `The body is longer than ${limit_bytes} bytes.`
  },
  { limit_bytes: Count }
) {}

/** The route does not exist or is disabled. */
export class RouteNotFound extends Problem<RouteNotFound>()("RouteNotFound", {
  status: 404,
  title: "Not found",
  detail: () => "There is nothing at this address."
}) {}

/** The path does not support this method. */
export class MethodNotAllowed extends Problem<MethodNotAllowed>()(
  "MethodNotAllowed",
  {
    status: 405,
    title: "Method not allowed",
    detail: ({ allow }) => `This address supports ${allow.join(", ")}.`
  },
  { allow: Schema.Array(Schema.String) }
) {}

/** The requested range is outside of the content. */
export class RangeNotSatisfiable extends Problem<RangeNotSatisfiable>()(
  "RangeNotSatisfiable",
  {
    status: 416,
    title: "Range not satisfiable",
    detail: ({ size }) => `The requested range is outside of the ${size} bytes that there are.`
  },
  { size: Count }
) {}

/** The caller has exceeded the rate limit; `retry_after` is in seconds, as is the header of that name. */
export class RateLimited extends Problem<RateLimited>()(
  "RateLimited",
  {
    status: 429,
    title: "Too many requests",
    detail: ({ retry_after }) => `Too many requests; try again in ${retry_after} s.`
  },
  { retry_after: Count }
) {}

/** The limit for entries of this kind has been reached; remove one first. */
export class LimitReached extends Problem<LimitReached>()(
  "LimitReached",
  {
    status: 403,
    title: "Limit reached",
    detail: ({ limit, of }) => `There are ${limit} ${of} already, which is the limit.`
  },
  { of: Schema.String, limit: Count }
) {}

/** An internal error. The log has the details under the trace id; the response does not contain them. */
export class InternalFailure extends Problem<InternalFailure>()(
  "InternalFailure",
  {
    status: 500,
    title: "Internal failure",
    detail: ({ trace_id }) => `The service failed; its log has the reason under ${trace_id}.`
  },
  { trace_id: Schema.String }
) {}

/** The database does not answer. */
export class DatabaseUnreachable extends Problem<DatabaseUnreachable>()("DatabaseUnreachable", {
  status: 503,
  title: "Not ready",
  detail: () => "The database cannot be read at the moment."
}) {}

/** The request is not HTTP/1.1. */
export class NotHttp extends Problem<NotHttp>()("NotHttp", {
  status: 400,
  title: "Not HTTP",
  detail: () => "This is not an HTTP/1.1 request."
}) {}

export class RequestTimeout extends Problem<RequestTimeout>()("RequestTimeout", {
  status: 408,
  title: "Request timeout",
  detail: () => "The request did not arrive in time."
}) {}

export class ChunkExtensionsTooLarge extends Problem<ChunkExtensionsTooLarge>()("ChunkExtensionsTooLarge", {
  status: 413,
  title: "Chunk extensions too large",
  detail: () => "The chunk extensions are too long."
}) {}

/** Bytes that the headers of a request may have. */
export const maxHeaderBytes = 16 * 1024

export class HeadersTooLarge extends Problem<HeadersTooLarge>()("HeadersTooLarge", {
  status: 431,
  title: "Headers too large",
  detail: () => `The headers are longer than ${maxHeaderBytes / 1024} KiB.`
}) {}

/** The service is starting or shutting down, and its routes are unavailable. */
export class NotServing extends Problem<NotServing>()("NotServing", {
  status: 503,
  title: "Not serving",
  detail: () => "The service is starting or shutting down; try again."
}) {}

/** A form of the portal was submitted a second time, and the first response is no longer stored. */
export class FormSentBefore extends Problem<FormSentBefore>()("FormSentBefore", {
  status: 409,
  title: "Already submitted",
  detail: () => "This form was already submitted and took effect once. Open its page again to see the result."
}) {}

/** The idempotency key has already been used for a different request. */
export class IdempotencyKeyReused extends Problem<IdempotencyKeyReused>()("IdempotencyKeyReused", {
  status: 409,
  title: "Idempotency key reused",
  detail: () => "This idempotency key belongs to another request; choose a fresh one."
}) {}
