/** Handlers of what agents ask to enforce the policy of their tunnel. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { NotHostnameOwner } from "@catenet/domain/certificates/AdmissionErrors"
import { TunnelPolicy } from "@catenet/domain/tunnels/TunnelPolicy"
import type { Hostname } from "@catenet/domain/values/Hostname"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { hash } from "node:crypto"
import { AgentProofs } from "../enrollment/AgentProofs.ts"
import { Gate } from "../gate/Gate.ts"
import { GateCallers } from "../gate/GateCallers.ts"
import { GateCodes } from "../gate/GateCodes.ts"
import { TunnelPolicies } from "../gate/TunnelPolicies.ts"
import { GateSessions } from "../tunnels/GateSessions.ts"

const encode = Schema.encodeSync(Schema.fromJsonString(TunnelPolicy))

export const AgentPolicyHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "agentPolicy",
  Effect.fn(function* (handlers) {
    const { holder } = yield* AgentProofs
    const policies = yield* TunnelPolicies
    const gate = yield* Gate
    const callers = yield* GateCallers
    const codes = yield* GateCodes
    const sessions = yield* GateSessions
    const admit = (token: RoutingToken, host: Hostname) =>
      Effect.flatMap(holder(token), (tunnel) => policies.owns(tunnel, host))
    return handlers.handleAll({
      policy: Effect.fnUntraced(function* ({ headers, query }) {
        const tunnel = yield* holder(headers["x-ct-routing-token"])
        const body = encode(yield* policies.of(tunnel, query.enforces?.split(",") ?? []))
        const etag = `"${hash("sha256", body, "base64url")}"`
        const fields = { headers: { etag, "cache-control": "private, no-cache" } }
        return headers["if-none-match"] === etag
          ? HttpServerResponse.empty({ status: 304, ...fields })
          : HttpServerResponse.text(body, { contentType: "application/json", ...fields })
      }),
      redeem: ({ payload: { browser, code, host, token } }) =>
        Effect.andThen(admit(token, host), codes.redeem({ browser, code, host })),
      caller: ({ payload: { bearer, host, resource, token } }) =>
        Effect.gen(function* () {
          const tunnel = yield* holder(token)
          yield* policies.owns(tunnel, host)
          if (new URL(resource).hostname !== host) return yield* new NotHostnameOwner()
          return yield* callers.identify(tunnel, bearer, resource)
        }),
      session: ({ headers, params, query }) =>
        Effect.andThen(admit(headers["x-ct-routing-token"], query.host), gate.answerToAgent(query.host, params.id)),
      endSession: ({ headers, params, query }) =>
        Effect.andThen(admit(headers["x-ct-routing-token"], query.host), sessions.closeHashed(params.id, query.host))
    })
  })
)
