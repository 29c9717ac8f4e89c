/** Reads a program's settings: a record of variables, all of them at once, with every problem and not only the first. */
import { type Config, ConfigProvider, Effect, FileSystem, Result } from "effect"
import { ConfigurationInvalid, type Problem } from "./ConfigurationInvalid.ts"
import * as SecretFiles from "./SecretFiles.ts"
import { problemOf, type Variable } from "./Variable.ts"

/** Finds the variable that a misspelt one was probably meant to be: it is not read, and the program starts without it. */
const maxEdits = 2

/** How many characters have to be put in, left out or replaced to make one text of the other. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [i, character] of Array.from(from).entries()) {
    const next = [i + 1]
    for (const [j, other] of Array.from(to).entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (character === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}

/** The nearest known name that this one misses by at most two characters; none for a known name and for a foreign one. */
export const closestMatch = (name: string, known: ReadonlySet<string>): string | undefined => {
  if (known.has(name)) return undefined
  let nearest: string | undefined
  let least = maxEdits + 1
  for (const each of known) {
    const edits = Math.abs(each.length - name.length) < least ? distance(name, each) : least
    if (edits < least) [nearest, least] = [each, edits]
  }
  return nearest
}

const prefix = "CT"

/** The full names of all variables of this provider that begin with these parts. */
const namesUnder: (
  provider: ConfigProvider.ConfigProvider,
  parts: ReadonlyArray<string>
) => Effect.Effect<ReadonlyArray<string>> = Effect.fnUntraced(function* (provider, parts) {
  const node = yield* Effect.orElseSucceed(provider.load(parts), () => undefined)
  const own = node?.value === undefined ? [] : [parts.join("_")]
  if (node?._tag !== "Record") return own
  const below = yield* Effect.forEach(node.keys, (key) => namesUnder(provider, [...parts, key]))
  return [...own, ...below.flat()]
})

/** A sentence for each `CT_*` variable of this provider that is not known and resembles one that is. */
const sentences = (provider: ConfigProvider.ConfigProvider, known: ReadonlySet<string>) =>
  Effect.map(namesUnder(provider, [prefix]), (names) =>
    names.flatMap((name) => {
      const other = closestMatch(name, known)
      return other === undefined ? [] : [`${name} is not read. Correct it if ${other} was meant.`]
    })
  )

export type Variables = Readonly<Record<string, Variable<unknown>>>

/** What a record of variables is read as. */
export type Values<V extends Variables> = { readonly [K in keyof V]: Config.Success<V[K]["config"]> }

/** The same where a variable was refused and has no value. */
export type PartialValues<V extends Variables> = { readonly [K in keyof V]: Values<V>[K] | undefined }

export interface Options<V extends Variables> {
  /** What the values must be together. A problem of a variable that has one already, or whose file has, is left out. */
  readonly rules?: (values: PartialValues<V>) => ReadonlyArray<Problem>
  /** Where the variables come from, the first before the second; by default the provider of the context. */
  readonly sources?: ReadonlyArray<ConfigProvider.ConfigProvider>
  /** Variables that are read elsewhere, so that they are no misspelling. */
  readonly known?: ReadonlyArray<string>
  /** Variables that have no effect here, with the reason. */
  readonly unused?: Readonly<Record<string, string>>
}

/** The names of the variables, with those of the files of secrets. */
export const namesOf = (variables: Variables): ReadonlyArray<string> =>
  Object.values(variables).flatMap(({ isSecret, name }) => (isSecret ? [name, SecretFiles.fileVariable(name)] : [name]))

/**
 * The first provider that has a value. `ConfigProvider.orElse` takes A_B in the first for the parent of A, and then does not
 * look for A in the second.
 */
const layered = (sources: ReadonlyArray<ConfigProvider.ConfigProvider>): ConfigProvider.ConfigProvider =>
  ConfigProvider.make((path) =>
    Effect.gen(function* () {
      for (const source of sources) {
        const node = yield* source.load(path)
        if (node?.value !== undefined) return node
      }
      return undefined
    })
  )

/** The trimmed texts of the variables that are set, as they are passed on to another program. */
export const textsOf = Effect.fnUntraced(function* (
  provider: ConfigProvider.ConfigProvider,
  names: ReadonlyArray<string>
) {
  const texts = new Map<string, string>()
  for (const name of names) {
    const node = yield* Effect.orElseSucceed(provider.load([name]), () => undefined)
    const text = node?.value?.trim() ?? ""
    if (text !== "") texts.set(name, text)
  }
  return Object.fromEntries(texts)
})

const isSet = (provider: ConfigProvider.ConfigProvider, name: string) =>
  Effect.map(textsOf(provider, [name]), (texts) => Object.hasOwn(texts, name))

/** Says once what a program is given and does not read. */
const warnUnused = Effect.fnUntraced(function* (
  sources: ReadonlyArray<ConfigProvider.ConfigProvider>,
  known: ReadonlySet<string>,
  unused: Readonly<Record<string, string>>
) {
  for (const source of sources) {
    for (const sentence of yield* sentences(source, known)) yield* Effect.logWarning(sentence)
    for (const [name, reason] of Object.entries(unused))
      if (yield* isSet(source, name)) yield* Effect.logWarning(`${name} has no effect: ${reason}.`)
  }
})

const nothing = ConfigProvider.fromUnknown({})

/**
 * The values of a program that sets them itself, in place of the environment: `given`, and the default of what is left out.
 * Fails with every required one that is missing.
 */
export const complete = Effect.fn("VariableReader.complete")(function* <const V extends Variables>(
  variables: V,
  given: Partial<Values<V>>
) {
  const problems: Array<Problem> = []
  const entries: Array<readonly [string, unknown]> = []
  const set = new Map<string, unknown>(Object.entries(given))
  for (const [key, { config, name }] of Object.entries(variables)) {
    const value = set.get(key)
    const result = value === undefined ? yield* Effect.result(config.parse(nothing)) : Result.succeed(value)
    entries.push([key, Result.getOrUndefined(result)])
    if (Result.isFailure(result)) problems.push(problemOf(name, result.failure))
  }
  // `fromEntries` does not know which key has which type.
  return problems.length > 0
    ? yield* new ConfigurationInvalid({ problems })
    : (Object.fromEntries(entries) as Values<V>)
})

/** Reads them. Fails with every problem that there is. */
export const read: <const V extends Variables>(
  variables: V,
  options?: Options<V>
) => Effect.Effect<Values<V>, ConfigurationInvalid, FileSystem.FileSystem> = Effect.fn("VariableReader.read")(
  function* <const V extends Variables>(variables: V, options: Options<V> = {}) {
    const sources = options.sources ?? [yield* ConfigProvider.ConfigProvider]
    const { known = [], rules, unused = {} } = options
    yield* warnUnused(sources, new Set([...namesOf(variables), ...known, ...Object.keys(unused)]), unused)
    const given = layered(sources)
    const provider = SecretFiles.serving(yield* FileSystem.FileSystem, given)
    const problems: Array<Problem> = []
    const entries: Array<readonly [string, unknown]> = []
    for (const [key, { config, name, needs }] of Object.entries(variables)) {
      const result = yield* Effect.result(config.parse(provider))
      entries.push([key, Result.getOrUndefined(result)])
      if (Result.isFailure(result) && (needs === undefined || (yield* isSet(given, needs))))
        problems.push(problemOf(name, result.failure))
    }
    // `fromEntries` does not know which key has which type.
    const values = Object.fromEntries(entries) as Values<V>
    for (const problem of rules?.(values) ?? [])
      if (
        !problems.some(({ variable }) =>
          [problem.variable, SecretFiles.fileVariable(problem.variable)].includes(variable)
        )
      )
        problems.push(problem)
    return problems.length > 0 ? yield* new ConfigurationInvalid({ problems }) : values
  }
)
