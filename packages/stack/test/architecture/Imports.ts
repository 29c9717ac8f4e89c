/** The import statements of the workspace, read as text. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..")

export interface Import {
  /** Path of the importing file, relative to the root. */
  readonly file: string
  readonly specifier: string
  readonly typeOnly: boolean
}

const statement = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/g
const dynamic = /\bimport\(\s*"([^"]+)"\s*\)/g

/** Sources without block and line comments; good enough for text that is not inside strings. */
export const withoutComments = (source: string): string =>
  source.replaceAll(/(^|[\s(,;{])\/\*[\s\S]*?\*\//g, "$1").replaceAll(/(^|\s)\/\/.*$/gm, "$1")

export const sourceFiles = (packageName: string): ReadonlyArray<string> =>
  globSync("src/**/*.ts", { cwd: join(root, "packages", packageName) }).map((path) =>
    join("packages", packageName, path)
  )

export const importsOf = (file: string): ReadonlyArray<Import> => {
  const source = withoutComments(readFileSync(join(root, file), "utf8"))
  return [
    ...[...source.matchAll(statement)].map(([, typeOnly, specifier = ""]) => ({
      file,
      specifier,
      typeOnly: typeOnly !== undefined
    })),
    ...[...source.matchAll(dynamic)].map(([, specifier = ""]) => ({ file, specifier, typeOnly: false }))
  ]
}

/** The file of this workspace that an import means, or `undefined` for a library. */
export const targetOf = ({ file, specifier }: Import): string | undefined => {
  if (specifier.startsWith(".")) return relative(root, resolve(root, dirname(file), specifier))
  const [, name, path] = /^@catenet\/([^/]+)\/(?:internal\/)?(.+)$/.exec(specifier) ?? []
  return name === undefined ? undefined : join("packages", name, "src", `${path}.ts`)
}
