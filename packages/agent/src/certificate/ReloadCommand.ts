/**
 * Runs CT_ACME_RELOAD_CMD, which makes a server that uses the pair load the new one. The command gets none of the agent's
 * variables.
 */
import { hasEnded, signalGroup } from "@catenet/platform/ChildProcesses"
import { Processes } from "@catenet/platform/Processes"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Effect } from "effect"

const usualBound = 60_000
/** Output beyond this is not read. */
const longestOutput = 65_536

/** The last non-empty line of its output. */
const lastLine = (output: string) => output.trim().split("\n").at(-1)?.slice(0, 300) ?? ""

/**
 * Runs the command with `sh`; undefined if it succeeded, else the reason as the end of a sentence. A command that takes too long
 * is killed with all its processes. A command that leaves a background process has succeeded.
 */
export const run = Effect.fn("ReloadCommand.run")((command: string, folder: string, bound: number = usualBound) =>
  Effect.callback<string | undefined>((resume) => {
    const path = process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    const child = Processes.spawn("/bin/sh", ["-c", command], {
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: path, CT_ACME_CERT_OUT_DIR: folder }
    })
    let output = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (output.length < longestOutput) output += text
    })
    const settle = (failed: string | undefined) => {
      // A background process may still hold the pipe.
      child.stderr.destroy()
      resume(Effect.succeed(failed))
    }
    child.once("error", (error) => settle(error.message))
    child.once("exit", (code, signal) =>
      // The last output may still be in the pipe.
      Scheduler.setImmediate(() =>
        settle(
          code === 0 ? undefined : [`it ended with ${code ?? signal}`, lastLine(output)].filter(Boolean).join(": ")
        )
      )
    )
    return Effect.sync(() => {
      if (!hasEnded(child)) signalGroup(child, "SIGKILL")
    })
  }).pipe(
    Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.succeed(`it took longer than ${bound / 1000} s`) })
  )
)
