/** Says in the head of a refusal when to come again, as its body does. */
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/** For `Effect.tapErrorTag` on what a handler does. */
export const comeAgain = ({ retry_after }: { readonly retry_after: number }) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retry_after)))
  )
