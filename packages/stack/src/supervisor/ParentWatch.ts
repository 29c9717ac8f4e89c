/** Ends a supervised program in an orderly way when the stack that started it is gone. */
import { supervised } from "./ChildProcesses.ts"

/** Does nothing unless the stack started this process. */
export const watchParent = (): void => {
  if (process.env[supervised] !== "1") return
  process.stdin.once("close", () => process.kill(process.pid, "SIGTERM"))
  process.stdin.resume()
  process.stdin.unref()
}

/** A closed output does not end this process: the children have to be ended first, in their order. */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error
    })
}
