/** A program of another maker that serves in the foreground until the scope closes, in a folder that is removed then. */
import { Effect } from "effect"
import { type ChildProcessWithoutNullStreams, spawn, type SpawnOptions } from "node:child_process"
import { rmSync } from "node:fs"
import { createInterface } from "node:readline"

export interface Daemon {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly folder: string
  /** A line on stderr after which it serves. */
  readonly isReady: (line: string) => boolean
  readonly endedBy: NodeJS.Signals
  readonly options?: Pick<SpawnOptions, "cwd" | "env" | "gid" | "uid">
}

export const start = ({ args, endedBy, folder, isReady, options, program }: Daemon) =>
  Effect.acquireRelease(
    Effect.callback<ChildProcessWithoutNullStreams>((resume) => {
      const child = spawn(program, args, { ...options, stdio: "pipe" })
      createInterface({ input: child.stderr }).on("line", (line) => {
        if (isReady(line)) resume(Effect.succeed(child))
      })
      child.on("exit", (code) => resume(Effect.die(new Error(`${program} ended with ${code}`))))
    }).pipe(Effect.timeout("20 seconds"), Effect.orDie),
    (child) =>
      Effect.callback<void>((resume) => {
        child.removeAllListeners("exit").on("exit", () => {
          rmSync(folder, { recursive: true, force: true })
          resume(Effect.void)
        })
        child.kill(endedBy)
      })
  )
