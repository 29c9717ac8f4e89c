/**
 * What surrounds every route: a name for the request, security headers, a problem for whatever went wrong, and one log
 * line when somebody reads that level.
 */
import { Clock, Context, Effect, LogLevel, References } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { Settings } from "../Settings.ts"
import * as Failures from "./Failures.ts"
import * as RequestId from "./RequestId.ts"
import * as Routes from "./Routes.ts"
import * as SecurityHeaders from "./SecurityHeaders.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Routing tokens are part of some paths; they are not for the log. */
const pathOf = (url: string) => url.replace(/\?.*$/s, "").replace(/[0-9a-fA-F]{64}/g, "<64 hex>")

const logged = <R>(request: Request, id: string, handled: Effect.Effect<Response, never, R>) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const response = yield* handled
    const millis = (yield* Clock.currentTimeMillis) - start
    const facts = { request: id, method: request.method, path: pathOf(request.url), status: response.status, millis }
    yield* Effect.annotateLogs(Effect.logDebug("answered"), facts)
    return response
  })

/** The shell around all routes; `extra` are the addresses beside the API value. */
export const make = Effect.fnUntraced(function* (extra: Routes.Extra) {
  const { portalBaseUrl } = yield* Settings
  const nameOf = yield* RequestId.makeNamer
  const methodsOf = Routes.methodsOf(extra)
  const dress = SecurityHeaders.make({ https: portalBaseUrl.protocol === "https:" })

  return <E, R>(routes: Effect.Effect<Response, E, R>) =>
    Effect.withFiber<Response, never, R>((fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const id = nameOf(request)
      const dressed = (response: Response) => dress(response, RequestId.header, id)
      const handled = Effect.matchCauseEffect(routes, {
        onSuccess: (response) =>
          response.status < 400 ? Effect.succeed(dressed(response)) : Effect.map(Failures.asProblem(response), dressed),
        onFailure: (cause) => Effect.map(Failures.answer(request, cause, id, methodsOf), dressed)
      })
      const isRead = LogLevel.isLessThanOrEqualTo(fiber.getRef(References.MinimumLogLevel), "Debug")
      return isRead ? logged(request, id, handled) : handled
    })
})
