/**
 * Entry point of `ct-agent`. Answers `--version` before loading anything; reports failures as one line per problem on stderr with
 * the exit code of the failure. While a newer version is on trial, this process only supervises it. `--self-test` lets an update
 * check that a program loads.
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
