/**
 * What surrounds every route: a problem for each failure, a count of responses, and one log line a
 * request where that level is logged.
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
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Clock, Context, Effect, LogLevel, References } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { requestIdOf } from "../fastpath/SecuredResponse.ts"
import { isUnavailable } from "../store/DatabaseAvailability.ts"
import { portalSessionCookie } from "./Cookies.ts"
import type { RequestMetrics } from "./RequestMetrics.ts"
import { methodsOf, type RouteTable } from "./RouteTable.ts"

// What is answered when no handler answered: one problem for every way a request can fail before, beside or inside the
// handlers. Nothing of the inside leaves: the reason is in the log under the request's name.

/** What a 401 says of the credentials that would have been taken, by the part of the service that wanted them (RFC 9110). */
const others: ReadonlyArray<readonly [prefix: string, challenge: string]> = [
  ["/portal/", `Cookie cookie-name="${portalSessionCookie}", form-action="/portal/login"`],
  ["/gate/", 'Cookie cookie-name="ct_gate_session", form-action="/gate/start"'],
  ["/payment/webhook", 'CatenetSignature header="x-ct-webhook-signature"'],
  ["", 'CatenetAdmin header="x-ct-admin-token"']
]

/** A token that does not verify has another challenge than none (RFC 6750); where tokens come from follows RFC 9728. */
const bearer = (given: string | undefined, origin: string) => {
  const refused = given !== undefined && /^bearer\b/iu.test(given) ? 'error="invalid_token", ' : ""
  return `Bearer ${refused}resource_metadata="${origin}/.well-known/oauth-protected-resource"`
}

/** The value of `WWW-Authenticate` for a request that was refused. */
const challenge = ({ headers, url }: HttpServerRequest.HttpServerRequest, origin: string): string =>
  url.startsWith("/me/")
    ? bearer(headers["authorization"], origin)
    : (others.find(([prefix]) => url.startsWith(prefix))?.[1] ?? "")

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
const respondToFailure = (
  request: Request,
  cause: Cause.Cause<unknown>,
  id: string,
  methodsAt: (url: string) => ReadonlyArray<string>
): Effect.Effect<Response> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.squash(cause)
  if (HttpServerResponse.isHttpServerResponse(error)) return Effect.succeed(error)
  if (HttpServerError.isHttpServerError(error)) {
    if (error.reason._tag === "RouteNotFound") return nothingThere(request, methodsAt(request.url))
    if (error.reason._tag === "RequestParseError") return unreadable(error.reason)
  }
  if (isUnavailable(error)) {
    return Effect.map(toResponse(new DatabaseUnreachable()), HttpServerResponse.setHeader("retry-after", "2"))
  }
  return internal(request, cause, id)
}

/** Completes a refusal: how to authenticate where that was missing, and a problem where the framework says plain text. */
const complete = (request: Request, response: Response, origin: string): Effect.Effect<Response> => {
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

/** Routing tokens are part of some paths; they are not for the log. */
const pathOf = (url: string) => redact(url.replace(/\?.*$/s, ""))

const current = Effect.map(HttpServerRequest.HttpServerRequest, (request) => ({
  request,
  id: requestIdOf(NodeHttpServerRequest.toServerResponse(request))
}))

const logged = <R>(handled: Effect.Effect<Response, never, R>) =>
  Effect.gen(function* () {
    const { id, request } = yield* current
    const start = yield* Clock.currentTimeMillis
    const response = yield* handled
    const millis = (yield* Clock.currentTimeMillis) - start
    const facts = { request: id, method: request.method, path: pathOf(request.url), status: response.status, millis }
    yield* Effect.annotateLogs(Effect.logDebug("answered"), facts)
    return response
  })

/** An answer without a body says so; else it would be sent in chunks, of which there are none. */
const sized = (response: Response): Response =>
  response.body._tag === "Empty" && response.status !== 204 && response.status !== 304
    ? HttpServerResponse.setHeader(response, "content-length", "0")
    : response

/** The middleware around all routes. */
export const make = (options: {
  readonly routes: RouteTable
  /** The public origin of the service. */
  readonly origin: string
  /** What a browser gets in place of a problem. */
  readonly page: (request: HttpServerRequest.HttpServerRequest, response: Response) => Response
  /** Where answers are counted. */
  readonly traffic: RequestMetrics["Service"]
}) => {
  const { traffic } = options
  const methodsAt = methodsOf(options.routes)
  return <E, R>(routes: Effect.Effect<Response, E, R>) => {
    const handled = Effect.matchCauseEffect(routes, {
      onSuccess: (response) =>
        response.status < 400
          ? Effect.succeed(response)
          : Effect.flatMap(current, ({ request }) =>
              Effect.map(complete(request, response, options.origin), (completed) => options.page(request, completed))
            ),
      onFailure: (cause) =>
        Effect.flatMap(current, ({ id, request }) =>
          Effect.map(respondToFailure(request, cause, id, methodsAt), (response) => options.page(request, response))
        )
    })
    return Effect.withFiber<Response, never, R | HttpServerRequest.HttpServerRequest>((fiber) => {
      const since = traffic.now()
      const { method } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const isLogged = LogLevel.isLessThanOrEqualTo(fiber.getRef(References.MinimumLogLevel), "Debug")
      return Effect.map(isLogged ? logged(handled) : handled, (response) => {
        // The router leaves what it matched in the fiber of the request.
        const matched = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)
        traffic.add(method, matched?.route.path ?? "none", response.status, since)
        return sized(response)
      })
    })
  }
}
