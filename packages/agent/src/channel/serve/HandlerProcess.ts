/** A command of the operator, run by the shell in a process group of its own, which ends as a whole. */
import { Processes } from "@catenet/platform/Processes"
import { Data, Effect } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { environmentOf } from "./HandlerEnvironment.ts"

export interface Command {
  readonly line: string
  /** What the command finds in CT_SERVICE_TYPE. */
  readonly service: string
  /** Names of further variables that it gets. */
  readonly passes: ReadonlyArray<string>
}

/** The shell could not be started. */
export class SpawnFailed extends Data.TaggedError("SpawnFailed")<{ readonly why: string }> {
  override get message() {
    return `the command could not be started: ${this.why}`
  }
}

/** Ends every process of the group. The group may be gone already. */
export const killGroup = ({ pid }: { readonly pid?: number | undefined }): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // There is no such group any more.
  }
}

/** A running command; the group is killed when the scope closes. */
export const start = Effect.fn("HandlerProcess.start")(({ line, passes, service }: Command) =>
  Effect.acquireRelease(
    Effect.callback<ChildProcessWithoutNullStreams, SpawnFailed>((resume) => {
      const child = Processes.spawn("sh", ["-c", line], {
        detached: true,
        env: environmentOf(service, passes),
        stdio: ["pipe", "pipe", "pipe"]
      })
      // A command that does not read its input breaks the pipe; that is no fault.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {})
      child.once("error", ({ message }) => resume(Effect.fail(new SpawnFailed({ why: message }))))
      child.once("spawn", () => resume(Effect.succeed(child)))
    }),
    (child) => Effect.sync(() => killGroup(child))
  )
)
