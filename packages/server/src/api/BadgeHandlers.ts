/** Handlers of the `badges` group: the picture, which is public and may be kept for five minutes. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Badges } from "../tunnels/records/Badges.ts"

const headers = {
  "cache-control": "public, max-age=300",
  // A badge is shown on other people's pages.
  "cross-origin-resource-policy": "cross-origin"
}

const cached = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeaders(response, headers))
)

export const BadgeHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "badges",
  Effect.fn(function* (handlers) {
    const badges = yield* Badges
    return handlers.handleAll({ svg: ({ params }) => Effect.tap(badges.picture(params.file), () => cached) })
  })
)
