/** Handlers of the `admission` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Challenges } from "../dns01/Challenges.ts"
import * as Handlers from "../http/Handlers.ts"
import { Admissions } from "./Admissions.ts"

/** Says in the head of the answer when to come again. */
const comeAgain = ({ retry_after }: { readonly retry_after: number }) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retry_after)))
  )

export const layer = Handlers.layer(
  Effect.gen(function* () {
    const admissions = yield* Admissions
    const challenges = yield* Challenges
    return HttpApiBuilder.group(ControlPlaneApi, "admission", (handlers) =>
      handlers.handleAll({
        admission: ({ params }) => admissions.ask(params),
        issuanceComplete: ({ params }) => admissions.complete(params),
        setChallenge: ({ payload }) => Effect.tapErrorTag(challenges.set(payload), "DnsBusy", comeAgain),
        clearChallenge: ({ payload }) => challenges.clear(payload)
      })
    )
  })
)
