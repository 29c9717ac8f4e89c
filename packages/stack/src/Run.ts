/** Runs the command line in this process, and turns how it ended into a sentence and an exit code. */
import * as LineWrap from "@catenet/agent/internal/terminal/LineWrap"
import { redact } from "@catenet/domain/values/Redaction"
import { Scheduler } from "@catenet/platform/Scheduler"
import { flushed } from "@catenet/wire/transport/Flushed"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, ConfigProvider, Effect, Exit, Runtime } from "effect"
import { CliError, Command } from "effect/cli"
import { acme } from "./commands/acme.ts"
import { backup, restore } from "./commands/backup.ts"
import { doctor } from "./commands/doctor.ts"
import { edge } from "./commands/edge.ts"
import { help } from "./commands/help.ts"
import { idp } from "./commands/idp.ts"
import { init } from "./commands/init.ts"
import { migrate } from "./commands/migrate.ts"
import { origin } from "./commands/origin.ts"
import { receipts } from "./commands/receipts.ts"
import { root } from "./commands/root.ts"
import { serve } from "./commands/serve.ts"
import { service } from "./commands/service.ts"
import { up } from "./commands/up.ts"
import { version } from "./Version.ts"

/** The command line of `catenet`: every command below one root. */
export const program = root.pipe(
  Command.withSubcommands([
    init,
    up,
    doctor,
    serve,
    edge,
    migrate,
    backup,
    restore,
    receipts,
    service,
    idp,
    acme,
    origin,
    help
  ])
)

/** The program with these arguments. Fails with a `CliError` on wrong usage. */
export const runWith = (args: ReadonlyArray<string>) =>
  Command.runWith(program, { version, renderErrors: true })(args).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provide(LineWrap.layer),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true })))
  )

const usage = 2
const interrupted = 130

const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  const known = Cause.hasFails(cause) && error instanceof Error
  process.stderr.write(redact(`Error: ${known ? error.message : Cause.pretty(cause)}\n`))
}

const codeOf = (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return interrupted
  const error = Cause.squash(cause)
  // Its help is what the program itself answers without a command; a group of commands needs one.
  if (CliError.isCliError(error))
    return error._tag === "ShowHelp" && error.errors.length + error.commandPath.length === 1 ? 0 : usage
  report(cause)
  return Runtime.getErrorExitCode(error)
}

/** How long a reader of the log may hold up the end. Results are waited for as long as somebody reads them. */
const logMillis = 1_000

/** What was written has left the process: `process.exit` throws away what still waits for its reader. */
const written = async () => {
  const late = new Promise<void>((resolve) => Scheduler.setTimeout(resolve, logMillis))
  const log = Promise.race([flushed(process.stderr), late])
  await Promise.allSettled([flushed(process.stdout), log])
}

const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  const stop = () => fiber.interruptUnsafe(fiber.id)
  process.on("SIGINT", stop)
  process.on("SIGTERM", stop)
  fiber.addObserver((exit) => teardown(exit, (code) => void written().then(() => process.exit(code))))
})

/** Starts the program; the process exits when it has ended. SIGINT and SIGTERM end it in an orderly way. */
export const start = (): void =>
  runMain(
    Effect.suspend(() => runWith(process.argv.slice(2))),
    {
      disableErrorReporting: true,
      teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : codeOf(exit.cause))
    }
  )
