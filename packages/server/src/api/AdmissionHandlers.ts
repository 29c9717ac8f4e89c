/** Handlers of the `admission` group. */
import { IssuedChain } from "@catenet/domain/api/AdmissionApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { readBody } from "@catenet/domain/api/RequestReading"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Admissions } from "../certificates/Admissions.ts"
import { CertificateStandings } from "../certificates/CertificateStandings.ts"
import { DnsChallenges } from "../certificates/DnsChallenges.ts"
import { parse } from "../certificates/IssuedCertificate.ts"
import { AgentProofs } from "../enrollment/AgentProofs.ts"
import { setRetryAfter } from "../http/RetryAfter.ts"

/** Agents of other makes send no body, or any: only an object with the member is read. */
const reportedChain = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const text = yield* Effect.catchCause(request.text, () => Effect.succeed(""))
  const { chain } = Option.isSome(withChain(text)) ? yield* readBody(IssuedChain) : {}
  if (chain === undefined) return undefined
  const certificates = parse(chain)
  if (certificates !== undefined) return certificates
  const message = "Expected one to ten certificates in PEM, leaf first"
  return yield* new MalformedRequest({ errors: [{ path: ["chain"], message }] })
})

const withChain = Schema.decodeOption(Schema.fromJsonString(Schema.Struct({ chain: Schema.Unknown })))

export const AdmissionHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "admission",
  Effect.fn(function* (handlers) {
    const { admit } = yield* AgentProofs
    const admissions = yield* Admissions
    const standings = yield* CertificateStandings
    const challenges = yield* DnsChallenges
    return handlers
      .handleRaw("issuanceComplete", ({ params }) =>
        Effect.gen(function* () {
          yield* admit(params.routing_token)
          yield* admissions.complete(params, yield* reportedChain)
          return HttpServerResponse.empty({ status: 200 })
        })
      )
      .handleAll({
        admission: ({ params }) => Effect.andThen(admit(params.routing_token), admissions.ask(params)),
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
