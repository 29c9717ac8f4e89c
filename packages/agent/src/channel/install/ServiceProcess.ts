/**
 * A program of an installed service, in its own process group. The group ends with this process in any case, because its shell
 * waits on a pipe that only this process holds.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { signalGroup } from "@catenet/platform/ChildProcesses"
import { Processes } from "@catenet/platform/Processes"
import { Effect } from "effect"
import { once } from "node:events"
import { environmentOf } from "../serve/HandlerEnvironment.ts"
import { readLines } from "../serve/HandlerProcess.ts"
import { InstallFailed } from "./InstallReport.ts"

export interface Service {
  readonly project: string
  /** The folder in which it is installed and runs. */
  readonly folder: string
  /** The file in the folder that is run. */
  readonly program: string
  readonly variables: Readonly<Record<string, string>>
}

export interface Running {
  /** Its exit status, or null after a signal. */
  readonly ended: Effect.Effect<number | null>
}

/** The shell that waits is in the group that it kills. */
const guarded = `(cat <&3 >/dev/null; kill -9 0) & exec "$0" 3<&-`

/** Time to end after SIGTERM. */
const graceMillis = 2000

/** A running program; its group ends when the scope closes. Its output goes to `log`, line by line. */
export const start = Effect.fn("ServiceProcess.start")(function* (
  { folder, program, project, variables }: Service,
  log: (line: string) => void
) {
  const open = Effect.callback<
    { readonly child: ReturnType<typeof Processes.spawn>; readonly exit: Promise<number | null> },
    InstallFailed
  >((resume) => {
    const child = Processes.spawn("sh", ["-c", guarded, `./${program}`], {
      cwd: folder,
      detached: true,
      env: { ...environmentOf(project, []), ...variables },
      stdio: ["ignore", "pipe", "pipe", "pipe"]
    })
    const exit = once(child, "exit").then(
      ([code]) => (typeof code === "number" ? code : null),
      () => null
    )
    // Background processes of the program would keep its pipes open.
    child.once("exit", () => signalGroup(child, "SIGKILL"))
    for (const stream of child.stdio) stream?.on("error", () => {})
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) readLines(stream, log)
    child.once("error", ({ message }) =>
      resume(
        Effect.fail(new InstallFailed({ step: "start", detail: `The shell could not be started: ${clause(message)}.` }))
      )
    )
    child.once("spawn", () => resume(Effect.succeed({ child, exit })))
  })
  const { exit } = yield* Effect.acquireRelease(open, ({ child, exit }) =>
    Effect.sync(() => signalGroup(child, "SIGTERM")).pipe(
      Effect.andThen(
        Effect.timeoutOption(
          Effect.promise(() => exit),
          graceMillis
        )
      ),
      Effect.andThen(Effect.sync(() => signalGroup(child, "SIGKILL")))
    )
  )
  const running: Running = { ended: Effect.promise(() => exit) }
  return running
})
