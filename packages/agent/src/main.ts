/**
 * Entry point of `ct-agent`. Answers `--version` before anything else is loaded; ends every failure with one line for each
 * problem on stderr and the exit code that belongs to it. A newer version is on trial under this one, which then loads nothing
 * either; `--self-test` is how an update asks a program whether it loads.
 */
import { begin } from "./StartupMemory.ts"
import { role } from "./update/TrialRole.ts"
import { line } from "./Version.ts"

const first = process.argv[2]

if (first === "--version" || first === "-V") process.stdout.write(`${line}\n`)
else if (role === "parent") {
  const [{ supervise }, { programOf }] = await Promise.all([
    import("./update/TrialParent.ts"),
    import("./update/TrialFiles.ts")
  ])
  supervise(programOf(process.execPath), process.argv.slice(2))
} else if (first === "--self-test") {
  await Promise.all([import("./Run.ts"), import("./commands/serve.ts")])
  process.stdout.write(`${line}\n`)
} else {
  begin()
  const { start } = await import("./Run.ts")
  start()
}
