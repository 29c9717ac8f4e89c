/** Entry point of `catenet`. Answers `--version` and becomes the agent before anything else is loaded. */
import { outliveReaders, watchParent } from "./supervisor/ParentWatch.ts"
import { line } from "./Version.ts"

const [first] = process.argv.slice(2)

watchParent()
outliveReaders()
if (first === "--version" || first === "-V") process.stdout.write(`${line}\n`)
else if (first === "agent") {
  process.argv.splice(2, 1)
  const { start } = await import("@catenet/agent/Run")
  start()
} else {
  const { start } = await import("./Run.ts")
  start()
}
