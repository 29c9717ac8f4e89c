/** Ends a supervised program in an orderly way when the stack that started it is gone. */
import { supervised } from "./ChildProcesses.ts"

/** Does nothing unless the stack started this process. */
export const watchParent = (): void => {
  if (process.env[supervised] !== "1") return
  process.stdin.once("close", () => process.kill(process.pid, "SIGTERM"))
  process.stdin.resume()
  process.stdin.unref()
}

/** A reader of our output that is gone ends nothing by itself: what was started has still to be ended, in its order. */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error
    })
}
