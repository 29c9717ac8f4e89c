/**
 * Reads variables from the environment, and below it from a file of `KEY=VALUE` lines, so that secrets need not be in a shell's
 * environment or in argv.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as VariableReader from "@catenet/platform/VariableReader"
import { ConfigProvider, Effect, FileSystem, References } from "effect"
import { extname } from "node:path"
import { login } from "./LoginVariables.ts"
import * as ProxyVariables from "./ProxyVariables.ts"
import { logging, names, secrets, topologyProof } from "./Variables.ts"

/** Variables of other agents that have no effect here, with the reason. */
const published = "the control plane publishes the proof and waits until every name server of the zone shows it"

export const unused = {
  CT_GRANT_EXPIRES_AT: "the end of a grant is CT_GRANT_EXPIRES",
  CT_ACME_DNS01_RESOLVER_URLS: published,
  CT_ACME_DNS01_PROPAGATION_TIMEOUT_SECS: `${published}, for 180 seconds at most`,
  CT_ACME_DNS01_INITIAL_DELAY_SECS: published,
  CT_ACME_DNS01_AUTHORITATIVE: published,
  CT_ACME_DNS01_ATTEMPTS:
    "an order that DNS does not show yet is continued, and one that failed is placed again by itself"
} as const

export const defaultFile = "./ct-agent.env"

const unreadable = (path: string, isNamed: boolean) =>
  isNamed
    ? ConfigurationInvalid.of(
        `The configuration file ${path}`,
        "cannot be read",
        "correct --config, or make the file readable for this user"
      )
    : ConfigurationInvalid.of(path, "is there but cannot be read", "make it readable for this user, or remove it")

const otherFormats: ReadonlyMap<string, string> = new Map([
  [".yaml", "YAML"],
  [".yml", "YAML"],
  [".json", "JSON"]
])

/** Rejects a file with the name of another format: read as KEY=VALUE lines, its settings would be lost silently. */
const requireLines = (path: string) => {
  const format = otherFormats.get(extname(path).toLowerCase())
  return format === undefined
    ? Effect.void
    : ConfigurationInvalid.of(
        `The configuration file ${path}`,
        `has the name of a ${format} file`,
        "name a file of KEY=VALUE lines in --config, such as ct-agent.env"
      )
}

const holdsSecret = new RegExp(`\\b(?:${secrets.join("|")})\\s*=`)

/** What `--config` names; undefined for the default file, if it is there; null for the environment alone. */
type Named = string | undefined | null

/** The file's provider; undefined when no file was named and the default one is not there. */
const fromFile = Effect.fnUntraced(function* (named: Named) {
  if (named === null) return undefined
  const fs = yield* FileSystem.FileSystem
  const path = named ?? defaultFile
  yield* requireLines(path)
  if (named === undefined && !(yield* Effect.orElseSucceed(fs.exists(path), () => false))) return undefined
  const contents = yield* Effect.mapError(fs.readFileString(path), () => unreadable(path, named !== undefined))
  const open = yield* fs.stat(path).pipe(
    Effect.map(({ mode }) => (mode & 0o077) !== 0),
    Effect.orElseSucceed(() => false)
  )
  if (open && holdsSecret.test(contents))
    yield* Effect.logWarning(`${path} holds secrets and others can read it. Run: chmod 600 ${path}`)
  return ConfigProvider.fromDotEnvContents(contents, { preserveEmptyStrings: true })
})

const sourcesOf = Effect.fnUntraced(function* (named: Named) {
  const environment = yield* ConfigProvider.ConfigProvider
  const file = yield* fromFile(named)
  return file === undefined ? [environment] : [environment, file]
})

/** The texts of these variables that are set, to be passed on. */
export const texts = Effect.fn("EnvironmentFile.texts")(function* (named: Named, variables: ReadonlyArray<string>) {
  const found = yield* Effect.forEach(yield* sourcesOf(named), (source) => VariableReader.textsOf(source, variables))
  return Object.assign({}, ...found.toReversed()) as Readonly<Record<string, string>>
})

/** Variables of one-time commands around a running agent: they are set in the same environment on purpose. */
const ofPeople = new Set(
  [
    ...Object.values(login),
    ...Object.values(topologyProof),
    ...Object.values(logging),
    ...Object.values(ProxyVariables.variables)
  ].map(({ name }) => name)
)

/** Warns in one line about variables that are set and that only other commands read. */
export const warnUnread = Effect.fn("EnvironmentFile.warnUnread")(function* (
  named: string | undefined,
  variables: VariableReader.Variables
) {
  const read = new Set(VariableReader.namesOf(variables))
  const others = names.filter((name) => !read.has(name) && !ofPeople.has(name.replace(/_FILE$/u, "")))
  const set = Object.keys(yield* texts(named, others)).toSorted()
  if (set.length > 0) yield* Effect.logInfo(`this command does not use ${set.join(", ")}`)
})

/** Reads a command's variables. The environment wins over the file that `named` names, variable by variable. */
export const read = Effect.fn("EnvironmentFile.read")(function* <const V extends VariableReader.Variables>(
  named: Named,
  variables: V,
  rules?: (values: VariableReader.PartialValues<V>) => ReturnType<NonNullable<VariableReader.Options<V>["rules"]>>
) {
  const sources = yield* sourcesOf(named)
  return yield* VariableReader.read(variables, {
    sources,
    known: names,
    unused,
    ...(rules === undefined ? {} : { rules })
  })
})

/** The process's proxy; undefined for direct connections. Other problems are left to the command. */
export const proxy = Effect.fn("EnvironmentFile.proxy")(
  function* (named: string | undefined) {
    const environment = yield* ConfigProvider.ConfigProvider
    const sources = yield* Effect.orElseSucceed(sourcesOf(named), () => [environment])
    return yield* Effect.flatMap(
      VariableReader.read(ProxyVariables.variables, { sources, known: names }),
      ProxyVariables.settingsOf
    )
  },
  Effect.provideService(References.MinimumLogLevel, "None")
)
