/** Entry point of `catenet`. Answers `--version` and becomes the agent or a process of an edge before anything else is loaded. */
import { begin } from "@catenet/agent/internal/StartupMemory"
import { workerCommand } from "@catenet/edge/internal/processes/WorkerProgram"
import { outliveReaders, watchParent } from "./supervisor/ParentWatch.ts"
import { line } from "./Version.ts"

const [first] = process.argv.slice(2)

begin()
const isEdgeWorker = first === workerCommand
if (!isEdgeWorker) watchParent()
outliveReaders()
if (isEdgeWorker) {
  const { start } = await import("@catenet/edge/internal/processes/WorkerProcess")
  start()
} else if (first === "--version" || first === "-V") process.stdout.write(`${line}\n`)
else if (first === "agent") {
  process.argv.splice(2, 1)
  const { start } = await import("@catenet/agent/internal/Run")
  start()
} else {
  const { start } = await import("./Run.ts")
  start()
}
