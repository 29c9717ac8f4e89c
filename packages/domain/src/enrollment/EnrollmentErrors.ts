/** Refusals of enrollment: join tokens and the bootstrap exchange. */
import { Schema } from "effect"
import { Problem } from "../values/Problem.ts"
import { maxTokensPerBatch } from "../values/Quotas.ts"
import { BootstrapSecretText } from "../values/Tokens.ts"
import { Tenant } from "./AgentStatus.ts"

/** The signature over the join token does not verify under the key in the request. */
export class JoinProofRefused extends Problem<JoinProofRefused>()("JoinProofRefused", {
  status: 403,
  title: "Join proof refused",
  detail: () => "The proof is not a signature by the given key over the join token."
}) {}

/** No operator or account issued this join token, or it has been deleted. */
export class JoinTokenUnknown extends Problem<JoinTokenUnknown>()("JoinTokenUnknown", {
  status: 404,
  title: "Join token unknown",
  detail: () => "This join token was never issued here."
}) {}

/** The join token has already been redeemed. */
export class JoinTokenSpent extends Problem<JoinTokenSpent>()("JoinTokenSpent", {
  status: 409,
  title: "Join token already used",
  detail: () =>
    "This join token has been redeemed. An agent that enrolled with it restores itself from its state directory; " +
    "a new agent needs a new join token."
}) {}

/**
 * The same agent has already redeemed the join token, with the same key and a valid proof. The response may have
 * been lost, so it is returned again.
 */
export class AgentAlreadyEnrolled extends Problem<AgentAlreadyEnrolled>()(
  "AgentAlreadyEnrolled",
  {
    status: 409,
    title: "Agent already enrolled",
    detail: () => "This agent redeemed this join token before, with the same key; it is enrolled."
  },
  { tenant: Tenant }
) {}

/** A batch has a minimum and a maximum number of tokens; the response states them. */
export class BatchCountOutOfRange extends Problem<BatchCountOutOfRange>()(
  "BatchCountOutOfRange",
  {
    status: 400,
    title: "Count out of range",
    detail: ({ count }) => `A batch holds 1 to ${maxTokensPerBatch} tokens, not ${count}.`
  },
  { count: Schema.Int }
) {}

/** No operator or account created this bootstrap token, or it has been deleted. */
export class BootstrapTokenUnknown extends Problem<BootstrapTokenUnknown>()("BootstrapTokenUnknown", {
  status: 404,
  title: "Bootstrap token unknown",
  detail: () => "This bootstrap token was never minted here."
}) {}

/** The bootstrap token has already been redeemed. */
export class BootstrapTokenSpent extends Problem<BootstrapTokenSpent>()("BootstrapTokenSpent", {
  status: 409,
  title: "Bootstrap token already used",
  detail: () => "This bootstrap token has been used; ask for a new one."
}) {}

/** The signature over the bootstrap token does not verify under the key in the request. */
export class BootstrapProofRefused extends Problem<BootstrapProofRefused>()("BootstrapProofRefused", {
  status: 403,
  title: "Bootstrap proof refused",
  detail: () => "The proof is not a signature by the given key over the bootstrap token."
}) {}

/**
 * The same agent has already redeemed the bootstrap token, with the same key and a valid proof. The response may
 * have been lost, so the secret is returned again until the token expires.
 */
export class BootstrapAlreadyRedeemed extends Problem<BootstrapAlreadyRedeemed>()(
  "BootstrapAlreadyRedeemed",
  {
    status: 409,
    title: "Bootstrap token already redeemed by this agent",
    detail: () => "This agent redeemed this bootstrap token before, with the same key; its secret comes again."
  },
  { secret: Schema.RedactedFromValue(BootstrapSecretText) }
) {}

/** The bootstrap token has expired; this attempt has used it up. */
export class BootstrapTokenExpired extends Problem<BootstrapTokenExpired>()("BootstrapTokenExpired", {
  status: 410,
  title: "Bootstrap token expired",
  detail: () => "This bootstrap token has expired; ask for a new one."
}) {}
