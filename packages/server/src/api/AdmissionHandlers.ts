/** Handlers of the `admission` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Admissions } from "../certificates/Admissions.ts"
import { CertificateStandings } from "../certificates/CertificateStandings.ts"
import { DnsChallenges } from "../certificates/DnsChallenges.ts"
import { setRetryAfter } from "../http/RetryAfter.ts"

export const AdmissionHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "admission",
  Effect.fn(function* (handlers) {
    const admissions = yield* Admissions
    const standings = yield* CertificateStandings
    const challenges = yield* DnsChallenges
    return handlers.handleAll({
      admission: ({ params }) => admissions.ask(params),
      issuanceComplete: ({ params }) => admissions.complete(params),
      issuanceFailed: ({ params, payload }) => admissions.fail(params, payload),
      standing: ({ params }) => standings.ask(params),
      issuanceProgress: ({ params, payload }) => standings.record(params, payload),
      setChallenge: ({ payload }) => Effect.tapErrorTag(challenges.set(payload), "DnsBusy", setRetryAfter),
      clearChallenge: ({ payload }) => challenges.clear(payload)
    })
  })
)
