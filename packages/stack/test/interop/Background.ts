/** A program of another maker that runs beside a test, with everything that it prints. */
import { eventually } from "@catenet/testing/Eventually"
import { Effect } from "effect"
import { spawn } from "node:child_process"

export interface Background {
  /** What it has printed so far. */
  readonly printed: () => string
}

/** Runs until the scope closes; there once it has printed `ready`. It gets no variable but these and the path. */
export const running = Effect.fn("Background.running")(function* (
  program: string,
  args: ReadonlyArray<string>,
  options: { readonly ready: string; readonly env?: Readonly<Record<string, string>>; readonly cwd?: string }
) {
  let printed = ""
  let ended = false
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const { cwd, env } = options
      const child = spawn(program, args, {
        env: { PATH: process.env["PATH"], ...env },
        stdio: ["ignore", "pipe", "pipe"],
        ...(cwd === undefined ? {} : { cwd })
      })
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (printed += text))
      child.once("close", () => (ended = true))
      return child
    }),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )
  yield* Effect.promise(() =>
    eventually(
      () => {
        if (ended) throw new Error(`${program} ended:\n${printed}`)
        return printed.includes(options.ready)
      },
      () => `${program} is ready:\n${printed}`
    )
  )
  return { printed: () => printed } satisfies Background
})
