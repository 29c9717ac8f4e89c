/**
 * A short-lived token that is exchanged once for an installation's secret. The first attempt consumes it, even a late
 * one, so an intercepted old token reveals nothing and leaves a trace.
 *
 * An attempt that proves a key keeps the secret for that key until the token expires: an agent whose response was lost
 * asks again with the same key and gets the secret with the refusal.
 */
import { Result } from "effect"
import type { PublicKey } from "../values/Keys.ts"
import type { BootstrapSecret } from "../values/Tokens.ts"
import {
  BootstrapAlreadyRedeemed,
  BootstrapTokenExpired,
  BootstrapTokenSpent,
  BootstrapTokenUnknown
} from "./EnrollmentErrors.ts"

/** `expiresAt` is the last unix second in which the secret is given. */
export type Bootstrap =
  | { readonly _tag: "Sealed"; readonly secret: BootstrapSecret; readonly expiresAt: number }
  | {
      readonly _tag: "Redeemed"
      readonly by: PublicKey
      readonly secret: BootstrapSecret
      readonly expiresAt: number
    }
  | { readonly _tag: "Spent" }

export type BootstrapRefusal =
  BootstrapTokenUnknown | BootstrapTokenSpent | BootstrapTokenExpired | BootstrapAlreadyRedeemed

/** Unlike a step, an attempt moves the state whatever the answer is. */
export interface BootstrapAttempt {
  readonly next: Bootstrap | null
  readonly answer: Result.Result<BootstrapSecret, BootstrapRefusal>
}

/** Seconds a token lives when the operator does not say. */
export const bootstrapSeconds = 600

/** Seconds that the token of a line lives that connects an agent. */
export const connectLineSeconds = 900

/**
 * Exchanges a token for its secret. `null` stands for a token that is not on record, and for an attempt without a key.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Redacted, Result } from "effect"
 * import { redeem } from "@catenet/domain/enrollment/Bootstrap"
 *
 * const sealed = { _tag: "Sealed", secret: Redacted.make("s"), expiresAt: 100 } as const
 * assert.deepEqual(redeem(sealed, 100, null).answer, Result.succeed(sealed.secret))
 * assert.equal(Result.getOrThrow(Result.flip(redeem(sealed, 101, null).answer))._tag, "BootstrapTokenExpired")
 * const { next } = redeem(sealed, 101, null)
 * assert.equal(Result.getOrThrow(Result.flip(redeem(next, 50, null).answer))._tag, "BootstrapTokenSpent")
 * ```
 */
export const redeem = (token: Bootstrap | null, now: number, by: PublicKey | null): BootstrapAttempt => {
  if (token === null) return { next: null, answer: Result.fail(new BootstrapTokenUnknown()) }
  const spent = { _tag: "Spent" } as const
  const alive = token._tag !== "Spent" && now <= token.expiresAt
  if (token._tag === "Sealed") {
    if (!alive) return { next: spent, answer: Result.fail(new BootstrapTokenExpired()) }
    return { next: by === null ? spent : { ...token, _tag: "Redeemed", by }, answer: Result.succeed(token.secret) }
  }
  if (token._tag === "Redeemed" && alive) {
    const { secret } = token
    return {
      next: token,
      answer: Result.fail(by === token.by ? new BootstrapAlreadyRedeemed({ secret }) : new BootstrapTokenSpent())
    }
  }
  return { next: spent, answer: Result.fail(new BootstrapTokenSpent()) }
}
