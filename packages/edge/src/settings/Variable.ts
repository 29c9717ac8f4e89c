/**
 * Readers for single `CT_*` variables. An empty variable counts as unset; a malformed one is a {@link Misconfigured}
 * that names the variable, says what is wrong with it and what to do. Values of secrets are never repeated.
 */
import { Config, Data, Effect, Option, Redacted } from "effect"
import type { Name } from "./Variables.ts"

/** One sentence for the operator. The program ends with exit code 3. */
export class Misconfigured extends Data.TaggedError("Misconfigured")<{
  readonly variable: Name
  readonly problem: string
  readonly remedy: string
}> {
  override get message() {
    return `${this.variable} ${this.problem}; ${this.remedy}.`
  }
}

/** A reader of one variable: `undefined` when it is unset. */
export type Variable<A> = Effect.Effect<A | undefined, Misconfigured>

/** The trimmed text of a variable. */
export const text = (variable: Name): Variable<string> =>
  Config.String(variable).pipe(
    Config.option,
    Effect.map((value) => Option.getOrUndefined(value)?.trim() || undefined),
    Effect.mapError(
      () => new Misconfigured({ variable, problem: "could not be read", remedy: "set it to a plain value" })
    )
  )

/** A variable that `parse` must accept; `expected` completes the sentence "is not ...". */
export const parsed = <A>(
  variable: Name,
  expected: string,
  example: string,
  parse: (value: string) => A | undefined
): Variable<A> =>
  Effect.flatMap(text(variable), (value) => {
    if (value === undefined) return Effect.succeed(undefined)
    const result = parse(value)
    return result === undefined
      ? Effect.fail(
          new Misconfigured({
            variable,
            problem: `is "${value}", which is not ${expected}`,
            remedy: `set it to something like ${example}`
          })
        )
      : Effect.succeed(result)
  })

/** Makes a variable obligatory. */
export const required = <A>(variable: Name, reader: Variable<A>, remedy: string): Effect.Effect<A, Misconfigured> =>
  Effect.flatMap(reader, (value) =>
    value === undefined
      ? Effect.fail(new Misconfigured({ variable, problem: "is not set", remedy }))
      : Effect.succeed(value)
  )

/** A whole number between `minimum` and `maximum`. */
export const count = (variable: Name, minimum: number, maximum: number, fallback: number) =>
  parsed(variable, `a whole number from ${minimum} to ${maximum}`, `${fallback}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    return number >= minimum && number <= maximum ? number : undefined
  }).pipe(Effect.map((value) => value ?? fallback))

const disabled = new Set(["0", "off", "false", "none"])

/** A cap: `0`, `off`, `false` and `none` lift it (Infinity), an unparsable value means the default (data-plane 1.5). */
export const cap = (variable: Name, fallback: number) =>
  Effect.map(text(variable), (value) => {
    if (value === undefined) return fallback
    if (disabled.has(value.toLowerCase())) return Number.POSITIVE_INFINITY
    return /^\d{1,9}$/.test(value) ? Number(value) : fallback
  })

/** A switch that `0`, `off`, `false` and `none` turn off and any other value turns on. */
export const flag = (variable: Name, fallback: boolean) =>
  Effect.map(text(variable), (value) => (value === undefined ? fallback : !disabled.has(value.toLowerCase())))

/** 64 hex digits, kept secret: the refusal never repeats the value. */
export const secretHex = (variable: Name): Variable<Redacted.Redacted> =>
  Effect.flatMap(text(variable), (value) => {
    if (value === undefined) return Effect.succeed(undefined)
    return /^[0-9a-fA-F]{64}$/.test(value)
      ? Effect.succeed(Redacted.make(value.toLowerCase()))
      : Effect.fail(
          new Misconfigured({
            variable,
            problem: "is not 64 hex digits",
            remedy: "generate one with: openssl rand -hex 32"
          })
        )
  })
