/**
 * The answer of a state machine: the next state and what is to be done about it, as data.
 * A machine decides; it performs nothing, and reads neither a clock nor a source of randomness.
 */
import { Result } from "effect"

/** A transition that was accepted. `effects` are in the order in which they have to be performed. */
export interface Step<out State, out Effect> {
  readonly next: State
  readonly effects: ReadonlyArray<Effect>
}

/**
 * Accepts a transition.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { step } from "@catenet/domain/values/Step"
 *
 * assert.deepEqual(Result.getOrThrow(step("open", "ring")), { next: "open", effects: ["ring"] })
 * ```
 */
export const step = <State, Effect = never>(
  next: State,
  ...effects: ReadonlyArray<Effect>
): Result.Result<Step<State, Effect>> => Result.succeed({ next, effects })

/**
 * Refuses a transition. The state stays as it was; the refusal is a tagged value that names the fact.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { refuse } from "@catenet/domain/values/Step"
 *
 * assert.deepEqual(Result.flip(refuse({ _tag: "AlreadyUsed" })), Result.succeed({ _tag: "AlreadyUsed" }))
 * ```
 */
export const refuse = <const Refusal extends { readonly _tag: string }>(
  refusal: Refusal
): Result.Result<never, Refusal> => Result.fail(refusal)
