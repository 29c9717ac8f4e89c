/**
 * The token with which a new agent enrols: good for one enrolment, until it is revoked. The token itself is unknown here; its
 * record is looked up by hash.
 */
import { type Result } from "effect"
import { refuse, step, type Step } from "../values/Step.ts"

export type JoinToken =
  | { readonly _tag: "Issued"; readonly tenant: string }
  | { readonly _tag: "Redeemed"; readonly tenant: string; readonly agent: string }
  | { readonly _tag: "Revoked" }

/** An enrolment as presented. `proofValid`: the agent's key signed the token. */
export interface Enrolment {
  readonly agent: string
  readonly pubkey: string
  readonly proofValid: boolean
}

/** Binds an agent id to its tenant and key, replacing an earlier binding of that id. */
export interface BindAgent {
  readonly _tag: "BindAgent"
  readonly agent: string
  readonly tenant: string
  readonly pubkey: string
}

/** In the order in which they are found. A revoked token is as unknown as one that never was. */
export type EnrolmentRefusal = { readonly _tag: "BadProof" | "UnknownToken" | "AlreadyUsed" }

/**
 * Redeems a token; `null` stands for a token that is not on record. The new state and the binding belong in one transaction.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { redeem } from "@catenet/domain/enrollment/JoinToken"
 *
 * const enrolment = { agent: "pi", pubkey: "ab".repeat(32), proofValid: true }
 * const { next } = Result.getOrThrow(redeem({ _tag: "Issued", tenant: "home" }, enrolment))
 * assert.deepEqual(next, { _tag: "Redeemed", tenant: "home", agent: "pi" })
 * assert.deepEqual(Result.flip(redeem(next, enrolment)), Result.succeed({ _tag: "AlreadyUsed" }))
 * ```
 */
export const redeem = (
  token: JoinToken | null,
  { agent, proofValid, pubkey }: Enrolment
): Result.Result<Step<JoinToken, BindAgent>, EnrolmentRefusal> => {
  if (!proofValid) return refuse({ _tag: "BadProof" })
  if (token === null || token._tag === "Revoked") return refuse({ _tag: "UnknownToken" })
  if (token._tag === "Redeemed") return refuse({ _tag: "AlreadyUsed" })
  const { tenant } = token
  return step<JoinToken, BindAgent>({ _tag: "Redeemed", tenant, agent }, { _tag: "BindAgent", agent, tenant, pubkey })
}

/**
 * Takes a token back. One that was redeemed stays redeemed: the agent it admitted is removed elsewhere.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { revoke } from "@catenet/domain/enrollment/JoinToken"
 *
 * assert.deepEqual(revoke({ _tag: "Issued", tenant: "home" }), { _tag: "Revoked" })
 * assert.equal(revoke({ _tag: "Redeemed", tenant: "home", agent: "pi" })._tag, "Redeemed")
 * ```
 */
export const revoke = (token: JoinToken): JoinToken => (token._tag === "Issued" ? { _tag: "Revoked" } : token)
