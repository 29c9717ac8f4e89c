/** Handlers of enrollment, provisioning, and certificate admission. */
import { IssuedChain } from "@catenet/domain/api/AdmissionApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { readBody } from "@catenet/domain/api/RequestReading"
import { bootstrapSeconds } from "@catenet/domain/enrollment/Bootstrap"
import { RotatedToken } from "@catenet/domain/tunnels/Tunnel"
import { MalformedRequest, RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Option, Redacted, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Admissions } from "../certificates/Admissions.ts"
import { CertificateStandings } from "../certificates/CertificateStandings.ts"
import { DnsChallenges } from "../certificates/DnsChallenges.ts"
import { parse } from "../certificates/IssuedCertificate.ts"
import { AgentProofs } from "../enrollment/AgentProofs.ts"
import { Bootstraps } from "../enrollment/Bootstraps.ts"
import { Enrollments } from "../enrollment/Enrollments.ts"
import { setRetryAfter } from "../http/Limits.ts"
import { Settings } from "../settings/Settings.ts"
import { Hosts } from "../tunnels/hostnames/Hosts.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"

/** Handlers of the `admission` group. */
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

/** Handlers of the `provisioning` group. */
export const ProvisioningHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "provisioning",
  Effect.fn(function* (handlers) {
    const tunnels = yield* Tunnels
    const hosts = yield* Hosts
    return handlers.handleAll({
      provisionTunnel: ({ headers, payload }) => tunnels.provision(payload, headers["idempotency-key"]),
      list: ({ query }) => tunnels.all(query),
      authorizeHost: ({ params }) => hosts.authorize(params.routing_token, params.hostname)
    })
  })
)

export const EnrollmentHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "enrollment",
  Effect.fn(function* (handlers) {
    const proofs = yield* AgentProofs
    const enrollments = yield* Enrollments
    const bootstraps = yield* Bootstraps
    const { adminToken } = yield* Settings
    return handlers.handleAll({
      issue: ({ headers, payload }) => enrollments.issue(payload.tenant, headers["idempotency-key"]),
      issueBatch: ({ headers, payload: { count, idempotency_key = headers["idempotency-key"], tenant } }) =>
        adminToken === undefined
          ? Effect.fail(new RouteNotFound())
          : Effect.map(
              enrollments.issueBatch({ tenant, count, idempotencyKey: idempotency_key, secret: adminToken }),
              (tokens) => ({ tokens })
            ),
      outstanding: ({ query }) => enrollments.outstanding(query),
      outstandingBootstraps: ({ query }) => bootstraps.outstanding(query),
      redeem: ({ payload }) => Effect.map(enrollments.redeem(payload), (tenant) => ({ tenant })),
      mintBootstrap: ({ headers, payload: { secret, ttl_secs = bootstrapSeconds } }) =>
        bootstraps.mint(secret, ttl_secs, headers["idempotency-key"]),
      currentToken: ({ payload }) =>
        Effect.map(proofs.successor(payload.token), (routing_token) => new RotatedToken({ routing_token })),
      reportVersion: ({ payload: { token, version } }) =>
        Effect.andThen(proofs.admit(Redacted.make(Redacted.value(token))), enrollments.reportVersion(token, version)),
      redeemBootstrap: ({ payload }) => Effect.map(bootstraps.redeem(payload), (secret) => ({ secret }))
    })
  })
)
