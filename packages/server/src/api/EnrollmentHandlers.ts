/** Handlers of the `enrollment` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { bootstrapSeconds } from "@catenet/domain/enrollment/Bootstrap"
import { RotatedToken } from "@catenet/domain/tunnels/Tunnel"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AgentProofs } from "../enrollment/AgentProofs.ts"
import { Bootstraps } from "../enrollment/Bootstraps.ts"
import { Enrollments } from "../enrollment/Enrollments.ts"
import { Settings } from "../settings/Settings.ts"

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
