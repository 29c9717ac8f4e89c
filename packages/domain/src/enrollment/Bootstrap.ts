/**
 * A short-lived token that is exchanged once for an installation's secrets. The first attempt spends it, also one that comes
 * too late: whoever intercepts an old token learns nothing from it and leaves a trace.
 */
import { Result } from "effect"
import { refuse } from "../values/Step.ts"

/** `expiresAt` is the last unix second in which the token works. */
export type Bootstrap<Secret> =
  { readonly _tag: "Sealed"; readonly secret: Secret; readonly expiresAt: number } | { readonly _tag: "Spent" }

export type BootstrapRefusal = { readonly _tag: "AlreadyUsed" | "Expired" }

/** Unlike a step, an attempt moves the state whatever the answer is. */
export interface BootstrapAttempt<Secret> {
  readonly next: Bootstrap<Secret>
  readonly answer: Result.Result<Secret, BootstrapRefusal>
}

/** Seconds a token lives when nothing else is said. */
export const bootstrapSeconds = 600

/**
 * Exchanges a token for its secret.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { redeem } from "@catenet/domain/enrollment/Bootstrap"
 *
 * const sealed = { _tag: "Sealed", secret: "s", expiresAt: 100 } as const
 * assert.deepEqual(redeem(sealed, 100).answer, Result.succeed("s"))
 * assert.deepEqual(redeem(sealed, 101).answer, Result.fail({ _tag: "Expired" }))
 * assert.deepEqual(redeem(redeem(sealed, 101).next, 50).answer, Result.fail({ _tag: "AlreadyUsed" }))
 * ```
 */
export const redeem = <Secret>(token: Bootstrap<Secret>, now: number): BootstrapAttempt<Secret> => {
  const next = { _tag: "Spent" } as const
  if (token._tag === "Spent") return { next, answer: refuse({ _tag: "AlreadyUsed" }) }
  return { next, answer: now <= token.expiresAt ? Result.succeed(token.secret) : refuse({ _tag: "Expired" }) }
}
