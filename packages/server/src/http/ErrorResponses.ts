/**
 * What is answered when no handler answered: one problem for every way a request can fail before, beside or inside the
 * handlers. Nothing of the inside leaves: the reason is in the log under the request's name.
 */
import { maxBodyBytes } from "@catenet/domain/api/RequestReading"
import { redact } from "@catenet/domain/values/Redaction"
import {
  BodyTooLarge,
  DatabaseUnreachable,
  InternalFailure,
  MalformedRequest,
  MethodNotAllowed,
  RouteNotFound,
  UnsupportedMediaType
} from "@catenet/domain/values/RequestErrors"
import { Cause, Effect } from "effect"
import { HttpServerError, type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { isUnavailable } from "../store/DatabaseAvailability.ts"
import { challenge } from "./AuthenticationChallenges.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const toResponse = HttpServerRespondable.toResponse

const nothingThere = (request: Request, methods: ReadonlyArray<string>): Effect.Effect<Response> =>
  methods.length === 0 || (methods.includes(request.method) && request.method !== "OPTIONS")
    ? toResponse(new RouteNotFound())
    : Effect.map(
        request.method === "OPTIONS"
          ? Effect.succeed(HttpServerResponse.empty({ status: 204 }))
          : toResponse(new MethodNotAllowed({ allow: [...methods] })),
        HttpServerResponse.setHeader("allow", methods.join(", "))
      )

const unreadable = (reason: HttpServerError.RequestParseError) =>
  reason.reason === "BodyTooLarge"
    ? toResponse(new BodyTooLarge({ limit_bytes: maxBodyBytes }))
    : toResponse(new MalformedRequest({ errors: [] }))

const internal = (request: Request, cause: Cause.Cause<unknown>, id: string) =>
  Effect.andThen(
    Effect.logError("A request failed.", cause).pipe(
      Effect.annotateLogs({ request: id, method: request.method, path: redact(request.url.replace(/\?.*$/s, "")) })
    ),
    toResponse(new InternalFailure({ trace_id: id }))
  )

/** The answer for a request whose handling ended in this cause. A client that went away is not answered. */
export const answer = (
  request: Request,
  cause: Cause.Cause<unknown>,
  id: string,
  methodsOf: (url: string) => ReadonlyArray<string>
): Effect.Effect<Response> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.squash(cause)
  if (HttpServerResponse.isHttpServerResponse(error)) return Effect.succeed(error)
  if (HttpServerError.isHttpServerError(error)) {
    if (error.reason._tag === "RouteNotFound") return nothingThere(request, methodsOf(request.url))
    if (error.reason._tag === "RequestParseError") return unreadable(error.reason)
  }
  if (isUnavailable(error)) {
    return Effect.map(toResponse(new DatabaseUnreachable()), HttpServerResponse.setHeader("retry-after", "2"))
  }
  return internal(request, cause, id)
}

/** Completes a refusal: how to authenticate where that was missing, and a problem where the framework says plain text. */
export const complete = (request: Request, response: Response, origin: string): Effect.Effect<Response> => {
  if (response.status === 401 && response.headers["www-authenticate"] === undefined) {
    return Effect.succeed(HttpServerResponse.setHeader(response, "www-authenticate", challenge(request, origin)))
  }
  if (
    response.status === 415 &&
    response.body._tag === "Uint8Array" &&
    /^text\/plain\b/u.test(response.body.contentType)
  ) {
    return toResponse(new UnsupportedMediaType({ expected: "application/json" }))
  }
  if (response.status === 413 && response.body._tag === "Empty") {
    return toResponse(new BodyTooLarge({ limit_bytes: maxBodyBytes }))
  }
  return Effect.succeed(response)
}
