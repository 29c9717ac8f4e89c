/** Random histories for state machines: at least fifty events, each with the seconds that passed before it. */
import { Result, Schema } from "effect"

/** Options of every property test. */
export { often } from "@catenet/testing/runs"

/** Whole numbers, both ends included. */
export const between = (minimum: number, maximum: number) =>
  Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum, maximum })))

/** Fifty to seventy events. */
export const history = <S extends Schema.Constraint>(event: S) =>
  Schema.Array(event).pipe(Schema.check(Schema.isMinLength(50), Schema.isMaxLength(70)))

/** The tag of the refusal, or undefined when the transition was accepted. */
export const refusal = (answer: Result.Result<unknown, { readonly _tag: string }>): string | undefined =>
  Result.isFailure(answer) ? answer.failure._tag : undefined
