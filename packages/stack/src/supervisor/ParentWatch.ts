/** Ends a supervised program in an orderly way when the stack that started it is gone. */
import { supervised } from "./ChildProcesses.ts"

/** Does nothing unless the stack started this process. */
export const watchParent = (): void => {
  if (process.env[supervised] !== "1") return
  process.stdin.once("close", () => process.kill(process.pid, "SIGTERM"))
  process.stdin.resume()
  process.stdin.unref()
}
