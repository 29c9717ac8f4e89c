/** Sets `retry-after` on a refusal, with the seconds that its body names. */
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/** For `Effect.tapErrorTag` on what a handler does. */
export const setRetryAfter = ({ retry_after }: { readonly retry_after: number }) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retry_after)))
  )
