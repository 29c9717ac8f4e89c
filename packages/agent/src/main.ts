/**
 * Entry point of `ct-agent`. Answers `--version` before anything else is loaded; ends every failure with one line for each
 * problem on stderr and the exit code that belongs to it.
 */
import { line } from "./Version.ts"

const first = process.argv[2]

if (first === "--version" || first === "-V") process.stdout.write(`${line}\n`)
else {
  const { start } = await import("./Run.ts")
  start()
}
