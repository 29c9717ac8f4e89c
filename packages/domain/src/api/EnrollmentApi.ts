/**
 * Enrollment of agents: join tokens, their redemption, and the bootstrap exchange that keeps them off command lines.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AgentProofRequired } from "../certificates/AdmissionErrors.ts"
import { AgentId, AgentVersion, Tenant } from "../enrollment/AgentStatus.ts"
import {
  AgentAlreadyEnrolled,
  BatchCountOutOfRange,
  BootstrapAlreadyRedeemed,
  BootstrapProofRefused,
  BootstrapTokenExpired,
  BootstrapTokenSpent,
  BootstrapTokenUnknown,
  JoinProofRefused,
  JoinTokenSpent,
  JoinTokenUnknown
} from "../enrollment/EnrollmentErrors.ts"
import { OutstandingBootstrapToken, OutstandingJoinToken } from "../enrollment/JoinToken.ts"
import { RotatedToken } from "../tunnels/Tunnel.ts"
import { TunnelNotFound } from "../tunnels/TunnelErrors.ts"
import { NewPublicKey, Signature } from "../values/Keys.ts"
import { Count } from "../values/Numbers.ts"
import { maxTokensPerBatch } from "../values/Quotas.ts"
import { IdempotencyKeyReused, LimitReached } from "../values/RequestErrors.ts"
import { line } from "../values/Text.ts"
import { BootstrapSecret, BootstrapToken, JoinToken, RoutingToken } from "../values/Tokens.ts"
import { AdminAccess, RateLimit } from "./Access.ts"
import { idempotencyHeader, pageQuery } from "./Page.ts"
import { BodyLimit, ReadsBody, ReadsParameters, maxListBytes } from "./RequestReading.ts"

/** With key and proof, an agent whose answer was lost can ask again; without them the secret is given once. */
export const BootstrapRedemption = Schema.Struct({
  token: BootstrapToken,
  pubkey: Schema.optionalKey(NewPublicKey),
  proof: Schema.optionalKey(Signature)
}).check(
  Schema.makeFilter(({ proof, pubkey }) => (pubkey === undefined) === (proof === undefined), {
    expected: "pubkey and proof together, or neither"
  })
)

export class EnrollmentApi extends HttpApiGroup.make("enrollment")
  .annotate(OpenApi.Description, "Enrollment of agents")
  .add(
    HttpApiEndpoint.post("issue", "/enroll/issue", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ tenant: Tenant }),
      success: Schema.Struct({ token: JoinToken }),
      error: [IdempotencyKeyReused, LimitReached]
    })
      .annotate(OpenApi.Summary, "Creates a single-use join token for a tenant.")
      .middleware(AdminAccess),
    HttpApiEndpoint.post("issueBatch", "/enroll/issue-batch", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ tenant: Tenant, count: Schema.Int, idempotency_key: Schema.optionalKey(line(255)) }),
      success: Schema.Struct({ tokens: Schema.Array(JoinToken) }),
      error: [BatchCountOutOfRange, IdempotencyKeyReused, LimitReached]
    })
      .annotate(OpenApi.Summary, `Creates up to ${maxTokensPerBatch} join tokens at once.`)
      .middleware(AdminAccess),
    HttpApiEndpoint.post("redeem", "/enroll/redeem", {
      payload: Schema.Struct({ token: JoinToken, agent: AgentId, pubkey: NewPublicKey, proof: Signature }),
      success: Schema.Struct({ tenant: Tenant }),
      error: [JoinProofRefused, JoinTokenUnknown, JoinTokenSpent, AgentAlreadyEnrolled]
    }).annotate(OpenApi.Summary, "Enrolls an agent with a join token and a proof of its key."),
    HttpApiEndpoint.post("mintBootstrap", "/bootstrap/mint", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ secret: BootstrapSecret, ttl_secs: Schema.optionalKey(Count) }),
      success: Schema.Struct({ token: BootstrapToken }),
      error: [IdempotencyKeyReused, LimitReached]
    })
      .annotate(OpenApi.Summary, "Stores a secret under a bootstrap token, which returns it once.")
      .annotate(BodyLimit, maxListBytes)
      .middleware(AdminAccess),
    HttpApiEndpoint.post("redeemBootstrap", "/bootstrap/redeem", {
      payload: BootstrapRedemption,
      success: Schema.Struct({ secret: BootstrapSecret }),
      error: [
        BootstrapProofRefused,
        BootstrapTokenUnknown,
        BootstrapTokenSpent,
        BootstrapAlreadyRedeemed,
        BootstrapTokenExpired
      ]
    }).annotate(
      OpenApi.Summary,
      "Redeems a bootstrap token for its secret, once; afterwards only the key that redeemed it gets the secret again."
    )
  )
  .add(
    HttpApiEndpoint.post("currentToken", "/agent/routing-token", {
      payload: Schema.Struct({ token: RoutingToken }),
      success: RotatedToken,
      error: AgentProofRequired
    }).annotate(
      OpenApi.Summary,
      "Returns the current routing token of a tunnel for a former one and a proof of an enrolled key."
    ),
    /** An agent on a carrier whose registration has no place for its version says it here. */
    HttpApiEndpoint.post("reportVersion", "/agent/version", {
      payload: Schema.Struct({ token: RoutingToken, version: AgentVersion }),
      success: HttpApiSchema.Empty(200),
      error: [AgentProofRequired, TunnelNotFound]
    }).annotate(OpenApi.Summary, "Reports the agent's version, for carriers whose registration has no place for it.")
  )
  .middleware(ReadsBody)
  .add(
    HttpApiEndpoint.get("outstanding", "/enroll/issue", {
      query: pageQuery,
      success: Schema.Array(OutstandingJoinToken)
    })
      .annotate(OpenApi.Summary, "Lists the unredeemed join tokens by their hashes.")
      .middleware(ReadsParameters)
      .middleware(AdminAccess),
    HttpApiEndpoint.get("outstandingBootstraps", "/bootstrap/mint", {
      query: pageQuery,
      success: Schema.Array(OutstandingBootstrapToken)
    })
      .annotate(OpenApi.Summary, "Lists the bootstrap tokens that can still be redeemed, by their hashes.")
      .middleware(ReadsParameters)
      .middleware(AdminAccess)
  )
  .middleware(RateLimit) {}
