/**
 * The token with which a new agent enrolls, once. Only its hash is stored. A token that is revoked, or belongs to a
 * grant that ended, is deleted and unknown from then on.
 */
import { Result, Schema } from "effect"
import { type Audit, audit } from "../values/AuditEffect.ts"
import { Hex64 } from "../values/Hex.ts"
import { TunnelId } from "../values/Ids.ts"
import type { PublicKey } from "../values/Keys.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { step, type Step } from "../values/Step.ts"
import { type AgentId, Tenant } from "./AgentStatus.ts"
import { AgentAlreadyEnrolled, JoinProofRefused, JoinTokenSpent, JoinTokenUnknown } from "./EnrollmentErrors.ts"

// * One-time tokens that are not redeemed, as operators see them: by the hash under which each is kept, never by the
// token itself.

/** A join token. `tunnel` is null when it is good for any tunnel of the tenant. */
export class OutstandingJoinToken extends Schema.Class<OutstandingJoinToken>("OutstandingJoinToken")({
  token_hash: Hex64,
  tenant: Tenant,
  tunnel: Schema.NullOr(TunnelId),
  created_at: UnixSeconds
}) {}

/** A bootstrap token that has not expired; of its secret nothing is shown. */
export class OutstandingBootstrapToken extends Schema.Class<OutstandingBootstrapToken>("OutstandingBootstrapToken")({
  token_hash: Hex64,
  created_at: UnixSeconds,
  expires_at: UnixSeconds
}) {}

/**
 * `keys`: with which the agent that redeemed the token may serve now. A key that was replaced, or whose grant ended, is not
 * among them.
 */
export type JoinToken =
  | { readonly _tag: "Issued"; readonly tenant: Tenant }
  | { readonly _tag: "Redeemed"; readonly tenant: Tenant; readonly keys: ReadonlyArray<PublicKey> }

/** An enrollment as presented. `proofValid`: the agent's key signed the token. */
export interface Enrollment {
  readonly agent: AgentId
  readonly pubkey: PublicKey
  readonly proofValid: boolean
}

/** Binds an agent id to its tenant and key, replacing an earlier binding of that id. */
export interface BindAgent {
  readonly _tag: "BindAgent"
  readonly agent: AgentId
  readonly tenant: Tenant
  readonly pubkey: PublicKey
}

/** In the order in which they are found. */
export type EnrollmentRefusal = JoinProofRefused | JoinTokenUnknown | JoinTokenSpent | AgentAlreadyEnrolled

/**
 * Redeems a token; `null` stands for a token that is not on record. The new state and the binding belong in one transaction.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { redeem } from "@catenet/domain/enrollment/JoinToken"
 *
 * const enrollment = { agent: "pi", pubkey: "ab".repeat(32), proofValid: true }
 * const { next } = Result.getOrThrow(redeem({ _tag: "Issued", tenant: "home" }, enrollment))
 * assert.deepEqual(next, { _tag: "Redeemed", tenant: "home", keys: [enrollment.pubkey] })
 * const stranger = { ...enrollment, pubkey: "cd".repeat(32) }
 * assert.equal(Result.getOrThrow(Result.flip(redeem(next, stranger)))._tag, "JoinTokenSpent")
 * assert.equal(Result.getOrThrow(Result.flip(redeem(next, enrollment)))._tag, "AgentAlreadyEnrolled")
 * ```
 */
export const redeem = (
  token: JoinToken | null,
  { agent, proofValid, pubkey }: Enrollment
): Result.Result<Step<JoinToken, BindAgent | Audit>, EnrollmentRefusal> => {
  if (!proofValid) return Result.fail(new JoinProofRefused())
  if (token === null) return Result.fail(new JoinTokenUnknown())
  const { tenant } = token
  if (token._tag === "Redeemed")
    return Result.fail(token.keys.includes(pubkey) ? new AgentAlreadyEnrolled({ tenant }) : new JoinTokenSpent())
  return step<JoinToken, BindAgent | Audit>(
    { _tag: "Redeemed", tenant, keys: [pubkey] },
    { _tag: "BindAgent", agent, tenant, pubkey },
    audit("agent_enrolled", tenant, agent, pubkey)
  )
}
