/** Refusals on an agent's way in: join tokens and the bootstrap exchange. */
import { Schema } from "effect"
import { Problem } from "../values/Problem.ts"
import { maxTokensPerBatch } from "../values/Quotas.ts"
import { BootstrapSecretText } from "../values/Tokens.ts"
import { Tenant } from "./Agent.ts"

/** The signature over the join token does not verify under the key in the request. */
export class JoinProofRefused extends Problem<JoinProofRefused>()("JoinProofRefused", {
  status: 403,
  title: "Join proof refused",
  detail: () => "The proof is not a signature by the given key over the join token."
}) {}

/** No operator or account issued this join token, or it is deleted. */
export class JoinTokenUnknown extends Problem<JoinTokenUnknown>()("JoinTokenUnknown", {
  status: 404,
  title: "Join token unknown",
  detail: () => "This join token was never issued here."
}) {}

/** The join token has been redeemed before. */
export class JoinTokenSpent extends Problem<JoinTokenSpent>()("JoinTokenSpent", {
  status: 409,
  title: "Join token already used",
  detail: () =>
    "This join token has been redeemed. An agent that enrolled with it restores itself from its state directory; " +
    "a new agent needs a new join token."
}) {}

/**
 * This very agent has redeemed the join token before: same key, valid proof. The answer to that may have been lost, so the
 * facts of its enrollment come again.
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

/** A batch holds at least one token, and not too many; the answer says how many. */
export class BatchCountOutOfRange extends Problem<BatchCountOutOfRange>()(
  "BatchCountOutOfRange",
  {
    status: 400,
    title: "Count out of range",
    detail: ({ count }) => `A batch holds 1 to ${maxTokensPerBatch} tokens, not ${count}.`
  },
  { count: Schema.Int }
) {}

/** No operator or account minted this bootstrap token, or it is deleted. */
export class BootstrapTokenUnknown extends Problem<BootstrapTokenUnknown>()("BootstrapTokenUnknown", {
  status: 404,
  title: "Bootstrap token unknown",
  detail: () => "This bootstrap token was never minted here."
}) {}

/** The bootstrap token has been redeemed before. */
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
 * This very agent has redeemed the bootstrap token before: same key, valid proof. The answer to that may have been lost, so
 * the secret comes again, until the token's own end.
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

/** The bootstrap token outlived its time; this attempt has spent it. */
export class BootstrapTokenExpired extends Problem<BootstrapTokenExpired>()("BootstrapTokenExpired", {
  status: 410,
  title: "Bootstrap token expired",
  detail: () => "This bootstrap token has expired; ask for a new one."
}) {}
