/** Handlers of the `admission` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Admissions } from "../certificates/Admissions.ts"
import { CertificateStandings } from "../certificates/CertificateStandings.ts"
import { DnsChallenges } from "../certificates/DnsChallenges.ts"
import { AgentProofs } from "../enrollment/AgentProofs.ts"
import { setRetryAfter } from "../http/RetryAfter.ts"

export const AdmissionHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "admission",
  Effect.fn(function* (handlers) {
    const { admit } = yield* AgentProofs
    const admissions = yield* Admissions
    const standings = yield* CertificateStandings
    const challenges = yield* DnsChallenges
    return handlers.handleAll({
      admission: ({ params }) => Effect.andThen(admit(params.routing_token), admissions.ask(params)),
      issuanceComplete: ({ params }) => Effect.andThen(admit(params.routing_token), admissions.complete(params)),
      issuanceFailed: ({ params, payload }) =>
        Effect.andThen(admit(params.routing_token), admissions.fail(params, payload)),
      standing: ({ params }) => Effect.andThen(admit(params.routing_token), standings.ask(params)),
      issuanceProgress: ({ params, payload }) =>
        Effect.andThen(admit(params.routing_token), standings.record(params, payload)),
      setChallenge: ({ payload }) =>
        Effect.andThen(admit(payload.token), Effect.tapErrorTag(challenges.set(payload), "DnsBusy", setRetryAfter)),
      clearChallenge: ({ payload }) => Effect.andThen(admit(payload.token), challenges.clear(payload))
    })
  })
)
