/**
 * Where the raw variables come from: the environment, and below it a file of `KEY=VALUE` lines, so that secrets need not stand in
 * the environment of a shell or in argv.
 */
import { Config, ConfigProvider, Effect, FileSystem, Option } from "effect"
import { ConfigurationInvalid } from "../Failure.ts"
import * as NearMiss from "./NearMiss.ts"
import { type Raw, type Variable, variables } from "./Variables.ts"

export const defaultFile = "./ct-agent.env"

const isVariable = (name: string): name is Variable => Object.hasOwn(variables, name)

const names = Object.keys(variables).filter(isVariable)

const unreadable = (path: string, named: boolean) =>
  new ConfigurationInvalid({
    problems: [
      named
        ? `The configuration file ${path} cannot be read. Correct --config, or make the file readable for this user.`
        : `${path} is there but cannot be read. Make it readable for this user, or remove it.`
    ]
  })

/** The file's provider; undefined when no file was named and the default one is not there. */
const fromFile = Effect.fnUntraced(function* (named: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = named ?? defaultFile
  if (named === undefined && !(yield* Effect.orElseSucceed(fs.exists(path), () => false))) return undefined
  const contents = yield* Effect.mapError(fs.readFileString(path), () => unreadable(path, named !== undefined))
  const open = yield* fs.stat(path).pipe(
    Effect.map(({ mode }) => (mode & 0o077) !== 0),
    Effect.orElseSucceed(() => false)
  )
  if (open && /TOKEN|BOOTSTRAP|HOLDER_KEY/.test(contents))
    yield* Effect.logWarning(`${path} holds secrets and others can read it. Run: chmod 600 ${path}`)
  return ConfigProvider.fromDotEnvContents(contents, { preserveEmptyStrings: true })
})

const lookUp = (provider: ConfigProvider.ConfigProvider, name: Variable) =>
  Config.String(name).pipe(Effect.option, Effect.provideService(ConfigProvider.ConfigProvider, provider))

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

/** A misspelt variable is not read, and nothing else would tell. */
const sayNearMisses = Effect.fnUntraced(function* (provider: ConfigProvider.ConfigProvider) {
  for (const name of yield* namesUnder(provider, ["CT"])) {
    const meant = NearMiss.meant(name)
    if (meant !== undefined) yield* Effect.logWarning(`${name} is not read. Correct it if ${meant} was meant.`)
  }
})

/** Reads every known variable once. The environment wins over the file, variable by variable. */
export const read = Effect.fn("Environment.read")(function* (named: string | undefined) {
  const environment = yield* ConfigProvider.ConfigProvider
  const file = yield* fromFile(named)
  yield* Effect.forEach(file === undefined ? [environment] : [environment, file], sayNearMisses)
  // Two look-ups and not one combined provider: that one sees CT_AGENT_ORIGIN_KEY in the environment as the parent of
  // CT_AGENT_ORIGIN and would then not look into the file for it.
  const found = yield* Effect.forEach(names, (name) =>
    Effect.gen(function* () {
      const value = yield* lookUp(environment, name)
      const below = Option.isSome(value) || file === undefined ? value : yield* lookUp(file, name)
      return [name, Option.getOrUndefined(below)] as const
    })
  )
  const raw: Raw = Object.fromEntries(found)
  return raw
})
