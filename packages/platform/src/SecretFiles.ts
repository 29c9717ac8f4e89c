/**
 * Every secret variable X may stand in the file that X_FILE names. A `Config` asks its provider for the file by a path that
 * `serving` answers; a provider without it has no files.
 */
import { Config, ConfigProvider, Effect, type FileSystem, Option } from "effect"
import { type Problem, sentence } from "./ConfigurationInvalid.ts"

const mark = "file of a secret"

/** The variable that names the file of a secret. */
export const fileVariable = (secret: string): string => `${secret}_FILE`

/** The text of the variable, or of its file. */
export const orFile = (
  secret: string,
  raw: Config.Config<Option.Option<string>>
): Config.Config<Option.Option<string>> =>
  Config.map(Config.all([Config.option(Config.nested(Config.String(secret), mark)), raw]), ([file, given]) =>
    Option.isSome(file) ? file : given
  )

const refuse = (problem: Problem) => new ConfigProvider.SourceError({ message: sentence(problem), cause: problem })

/** The same provider, which also reads the files of secrets. */
export const serving = (fs: FileSystem.FileSystem, provider: ConfigProvider.ConfigProvider) => {
  const textOf = (name: string) => Effect.map(provider.load([name]), (node) => node?.value?.trim() || undefined)
  const load = Effect.fnUntraced(function* (secret: string) {
    const variable = fileVariable(secret)
    const path = yield* textOf(variable)
    if (path === undefined) return undefined
    if ((yield* textOf(secret)) !== undefined)
      return yield* refuse({ variable: secret, problem: `is set, and so is ${variable}`, remedy: "unset one of them" })
    const text = yield* Effect.mapError(fs.readFileString(path), () =>
      refuse({
        variable,
        problem: `names ${path}, which cannot be read`,
        remedy: "correct it, or make the file readable for this user"
      })
    )
    if (text.trim() === "")
      return yield* refuse({ variable, problem: `names ${path}, which is empty`, remedy: "write the secret into it" })
    return ConfigProvider.makeValue(text.trim())
  })
  return ConfigProvider.make((path) => {
    const [first, secret] = path
    return first === mark && typeof secret === "string" ? load(secret) : provider.load(path)
  })
}
