/**
 * One `CT_*` variable as a value: its name, what it means, what is accepted and what holds without it. The table of the
 * operations guide is made from these values. An empty variable counts as unset; a secret is never repeated.
 */
import { Config, Data, Effect, Option, Schema } from "effect"

/** A variable is unset and has no default, or it does not read. The program ends with exit code 3. */
export class SettingRefused extends Data.TaggedError("SettingRefused")<{
  readonly variable: string
  readonly problem: string
  readonly remedy: string
}> {
  override get message() {
    return `${this.variable} ${this.problem}; ${this.remedy}.`
  }
}

export interface Variable<A> {
  readonly name: string
  readonly meaning: string
  /** What the variable must be, as a noun: "a TCP port from 1 to 65535". */
  readonly expected: string
  /** What holds when it is unset, as an operator would write it. */
  readonly fallback: string | undefined
  readonly read: Effect.Effect<A, SettingRefused>
}

/** How the text of a variable becomes a value. */
export interface Form<A> {
  readonly expected: string
  readonly schema: Schema.Codec<A, string>
}

const raw = (name: string) =>
  Config.String(name).pipe(
    Config.option,
    Effect.map((text) => Option.getOrUndefined(text)?.trim() || undefined),
    Effect.mapError(
      () => new SettingRefused({ variable: name, problem: "could not be read", remedy: "set it to a plain value" })
    )
  )

const decode = <A>(name: string, form: Form<A>, text: string) =>
  Effect.mapError(
    Schema.decodeEffect(form.schema)(text),
    () =>
      new SettingRefused({ variable: name, problem: `is not ${form.expected}`, remedy: "correct it and start again" })
  )

/** A variable that must be set. */
export const required = <A>(name: string, form: Form<A>, meaning: string): Variable<A> => ({
  name,
  meaning,
  expected: form.expected,
  fallback: undefined,
  read: Effect.flatMap(raw(name), (text) =>
    text === undefined
      ? Effect.fail(new SettingRefused({ variable: name, problem: "is not set", remedy: `set it to ${form.expected}` }))
      : decode(name, form, text)
  )
})

/** A variable that reads as `undefined` when it is unset. */
export const optional = <A>(name: string, form: Form<A>, meaning: string): Variable<A | undefined> => ({
  name,
  meaning,
  expected: form.expected,
  fallback: "unset",
  read: Effect.flatMap(raw(name), (text) => (text === undefined ? Effect.undefined : decode(name, form, text)))
})

/** A variable with a default, given as text so that it is read the same way and can be printed. */
export const defaulted = <A>(name: string, form: Form<A>, fallback: string, meaning: string): Variable<A> => ({
  name,
  meaning,
  expected: form.expected,
  fallback,
  read: Effect.flatMap(raw(name), (text) => decode(name, form, text ?? fallback))
})

/** What a record of variables reads as. */
export type Values<Variables extends Readonly<Record<string, Variable<unknown>>>> = {
  readonly [K in keyof Variables]: Effect.Success<Variables[K]["read"]>
}

/** Reads all of them, in their order; the first that is refused ends it. */
export const readAll = <Variables extends Readonly<Record<string, Variable<unknown>>>>(
  variables: Variables
): Effect.Effect<Values<Variables>, SettingRefused> =>
  Effect.map(
    Effect.forEach(Object.entries(variables), ([key, { read }]) => Effect.map(read, (value) => [key, value] as const)),
    // `fromEntries` forgets which key has which type.
    (entries) => Object.fromEntries(entries) as Values<Variables>
  )
