/**
 * What surrounds every route: a problem for each failure, a count of responses, and one log line a
 * request where that level is logged.
 */
import { redact } from "@catenet/domain/values/Redaction"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, LogLevel, References } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { requestIdOf } from "../fastpath/SecuredResponse.ts"
import * as AllowedMethods from "./AllowedMethods.ts"
import * as ErrorResponses from "./ErrorResponses.ts"
import type { RequestMetrics } from "./RequestMetrics.ts"

type Response = HttpServerResponse.HttpServerResponse

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
  /** The addresses beside the API value. */
  readonly extra: AllowedMethods.ExtraRoutes
  /** The public origin of the service. */
  readonly origin: string
  /** What a browser gets in place of a problem. */
  readonly page: (request: HttpServerRequest.HttpServerRequest, response: Response) => Response
  /** Where answers are counted. */
  readonly traffic: RequestMetrics["Service"]
}) => {
  const { traffic } = options
  const methodsOf = AllowedMethods.methodsOf(options.extra)
  return <E, R>(routes: Effect.Effect<Response, E, R>) => {
    const handled = Effect.matchCauseEffect(routes, {
      onSuccess: (response) =>
        response.status < 400
          ? Effect.succeed(response)
          : Effect.flatMap(current, ({ request }) =>
              Effect.map(ErrorResponses.complete(request, response, options.origin), (completed) =>
                options.page(request, completed)
              )
            ),
      onFailure: (cause) =>
        Effect.flatMap(current, ({ id, request }) =>
          Effect.map(ErrorResponses.answer(request, cause, id, methodsOf), (response) =>
            options.page(request, response)
          )
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
