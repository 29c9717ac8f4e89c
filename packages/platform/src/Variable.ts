/**
 * One variable as a value: its name, what it means, what is accepted and what applies without it. Tables, help, hints and the
 * reader are made from these values. An empty variable counts as unset.
 */
import { Config, ConfigProvider, Effect, Option } from "effect"
import { type Problem, sentence } from "./ConfigurationInvalid.ts"
import type { Parser } from "./Parser.ts"
import * as SecretFiles from "./SecretFiles.ts"

/** What a table and a help text say of a variable. */
export interface Described {
  readonly name: string
  readonly meaning: string
  /** What it must be, as a noun, with an example where that helps. */
  readonly expected: string
  /** What applies when it is unset, as an operator would write it. */
  readonly default: string | undefined
  readonly isRequired: boolean
  /** It is never repeated, and may stand in the file that `<NAME>_FILE` names. */
  readonly isSecret: boolean
}

export interface Variable<A> extends Described {
  readonly config: Config.Config<A>
  /** The variable without which this one has no effect, and is not refused. */
  readonly needs: string | undefined
  /** Variables that are read with this one and have a part in their names that the operator chooses. */
  readonly family: ReadonlyArray<Described>
}

interface Options {
  /** What to do when a required variable is unset, as an order. */
  readonly remedy?: string
  /** What to say as the default of an optional variable. */
  readonly standard?: string
  /** A text that does not parse counts as unset. */
  readonly isLenient?: boolean
  /** Set to nothing is not the same as unset, but refused. */
  readonly isBlankRefused?: boolean
  readonly needs?: string
}

/** A problem in the channel of errors that a `Config` has. */
const refuse = (problem: Problem) =>
  new Config.ConfigError(new ConfigProvider.SourceError({ message: sentence(problem), cause: problem }))

const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "variable" in value && "problem" in value

/** The problem behind the error of a variable's `Config`. */
export const problemOf = (variable: string, { cause }: Config.ConfigError): Problem =>
  cause._tag === "SourceError" && isProblem(cause.cause)
    ? cause.cause
    : { variable, problem: "could not be read", remedy: "set it to a plain value" }

const remedyOf = (example: string | undefined, defaultText: string | undefined) => {
  if (example !== undefined) return `set it to something like ${example}`
  return defaultText === undefined ? "correct it and start again" : `correct it, or unset it for ${defaultText}`
}

const shown = ({ example, expected }: Parser<unknown>) =>
  example === undefined ? expected : `${expected}, such as ${example}`

/** `absent` is what applies to an unset variable, or what to do about it. */
const make = <A, B>(
  name: string,
  parser: Parser<A>,
  meaning: string,
  absent: { readonly value: () => B } | { readonly remedy: string },
  defaultText: string | undefined,
  { isBlankRefused = false, isLenient = false, needs }: Options
): Variable<A | B> => {
  const { example, expected, isQuoted, isSecret, remedy } = parser
  const raw = Config.option(Config.String(name))
  const missing =
    "value" in absent
      ? Effect.sync(absent.value)
      : Effect.fail(refuse({ variable: name, problem: "is not set", remedy: absent.remedy }))
  const malformed = (text: string) => {
    return refuse({
      variable: name,
      problem: isQuoted ? `is "${text}", which is not ${expected}` : `is not ${expected}`,
      remedy: remedy ?? remedyOf(example, defaultText)
    })
  }
  const config = Config.mapEffect(
    isSecret ? SecretFiles.orFile(name, raw) : raw,
    (given): Effect.Effect<A | B, Config.ConfigError> => {
      const text = Option.getOrElse(given, () => "").trim()
      if (text === "") return isBlankRefused && Option.isSome(given) ? Effect.fail(malformed(text)) : missing
      const value = parser.parse(text)
      if (value !== undefined) return Effect.succeed(value)
      return isLenient ? missing : Effect.fail(malformed(text))
    }
  )
  return {
    name,
    meaning,
    expected: shown(parser),
    default: defaultText,
    isRequired: "remedy" in absent,
    isSecret,
    config,
    needs,
    family: []
  }
}

/** A variable that must be set. */
export const required = <A>(name: string, parser: Parser<A>, meaning: string, options: Options = {}): Variable<A> =>
  make<A, never>(name, parser, meaning, { remedy: options.remedy ?? `set it to ${shown(parser)}` }, undefined, options)

/** An optional variable where it must be set. */
export const asRequired = <A>(
  variable: Variable<A | undefined>,
  { meaning = variable.meaning, remedy = `set it to ${variable.expected}` }: { meaning?: string; remedy?: string } = {}
): Variable<A> => ({
  ...variable,
  meaning,
  default: undefined,
  isRequired: true,
  config: Config.mapEffect(variable.config, (value) =>
    value === undefined
      ? Effect.fail(refuse({ variable: variable.name, problem: "is not set", remedy }))
      : Effect.succeed(value)
  )
})

/** A variable that is `undefined` when it is unset. */
export const optional = <A>(
  name: string,
  parser: Parser<A>,
  meaning: string,
  options: Options = {}
): Variable<A | undefined> => make(name, parser, meaning, { value: () => undefined }, options.standard, options)

/** True when the variable is set to anything, even to nothing. */
export const present = (name: string, meaning: string): Variable<boolean> => ({
  name,
  meaning,
  expected: "anything",
  default: undefined,
  isRequired: false,
  isSecret: false,
  config: Config.map(Config.option(Config.String(name)), Option.isSome),
  needs: undefined,
  family: []
})

/** A variable with a default, given as text so that it is read the same way and can be printed. */
export const defaulted = <A>(
  name: string,
  parser: Parser<A>,
  defaultText: string,
  meaning: string,
  options: Options = {}
): Variable<A> => {
  const value = parser.parse(defaultText)
  if (value === undefined) throw new Error(`The default of ${name} is not ${parser.expected}`)
  return make(name, parser, meaning, { value: () => value }, defaultText, options)
}

/** A variable of which `then` makes another value, with the variables that it reads as well. */
export const withFamily = <A, B>(
  variable: Variable<A>,
  family: ReadonlyArray<Described>,
  then: (value: A) => Config.Config<B>
): Variable<B> => ({ ...variable, family, config: Config.flatMap(variable.config, then) })
