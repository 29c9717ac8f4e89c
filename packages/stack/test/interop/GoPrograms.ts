/**
 * Programs of other makers for interoperability tests, built from their Go modules where `go` is on this machine. A build is kept in
 * the user's cache, outside of this repository, so that only the first run waits for it; the versions are exact, and `go` checks
 * what it downloads.
 */
import { execFile, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const buildBound = 900_000

export interface GoPrograms {
  readonly module: string
  readonly version: string
  /** Packages of the module, below it. */
  readonly commands: ReadonlyArray<string>
}

const cache = () => join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "catenet", "interop")

/** Says that a test does not run, and why. */
export const skipped = (what: string, why: string) => process.stderr.write(`SKIPPED: ${what}: ${why}\n`)

/** The folder of the programs; undefined, which is said, where they cannot be built. */
export const built = async ({ commands, module, version }: GoPrograms): Promise<string | undefined> => {
  const folder = join(cache(), `${module.replaceAll("/", "_")}@${version}_${process.arch}`)
  const names = commands.map((command) => command.split("/").at(-1) ?? "")
  if (names.every((name) => existsSync(join(folder, name)))) return folder
  if (spawnSync("go", ["version"]).status !== 0) return void skipped(names.join(), "there is no `go` on PATH")
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  try {
    const packages = commands.map((command) => `${module}/${command}@${version}`)
    await promisify(execFile)("go", ["install", "-trimpath", "-buildvcs=false", ...packages], {
      env: { ...process.env, GOBIN: fresh, GOFLAGS: "", CGO_ENABLED: "0" },
      timeout: buildBound,
      killSignal: "SIGKILL"
    })
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
    return folder
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    const said = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error)
    return void skipped(names.join(), `\`go install\` failed: ${said.trim().split("\n").at(-1)}`)
  }
}
