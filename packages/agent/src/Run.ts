/** Runs the program in this process. Commands handle signals themselves: a serving agent drains, others just end. */
import { redact } from "@catenet/domain/values/Redaction"
import { youngCollector } from "@catenet/platform/BufferCollector"
import { Scheduler } from "@catenet/platform/Scheduler"
import { collectWith } from "@catenet/wire/transport/BufferMemory"
import { flushed } from "@catenet/wire/transport/Flushed"
import { Cause, Exit, Runtime } from "effect"
import { CliError } from "effect/cli"
import { run } from "./Cli.ts"

const usage = 2
const interrupted = 130

/** An error that no command has reported: a defect of the program. */
const report = (error: unknown) => {
  if (error instanceof Error && !Runtime.getErrorReported(error)) return
  process.stderr.write(redact(`Error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`))
}

const codeOf = (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return interrupted
  const error = Cause.squash(cause)
  // A group of commands without one of them shows its help, too.
  if (CliError.isCliError(error)) return usage
  report(error)
  return Runtime.getErrorExitCode(error)
}

/** How long a reader of the log may hold up the end. Results are waited for as long as somebody reads them. */
const logMillis = 1_000

/** Waits until all output has left the process, because `process.exit` discards what is still buffered. */
const written = async () => {
  const late = new Promise<void>((resolve) => Scheduler.setTimeout(resolve, logMillis))
  const log = Promise.race([flushed(process.stderr), late])
  await Promise.allSettled([flushed(process.stdout), log])
}

/** Starts the program; the process exits when it has ended. */
export const start = () => {
  collectWith(youngCollector())
  const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
    fiber.addObserver((exit) => teardown(exit, (code) => void written().then(() => process.exit(code))))
  })
  runMain(run, {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : codeOf(exit.cause))
  })
}
