/** Starts the program that is in this one's place now. */
import { Effect } from "effect"

/**
 * The process goes on with the new program where the system can do that, with no manager of services needed; where it cannot, it
 * ends, and the manager starts it again. Nothing may be open any more.
 */
export const now = Effect.sync(() => {
  if (process.platform !== "win32" && process.execve !== undefined)
    process.execve(process.execPath, [process.execPath, ...process.argv.slice(2)], process.env)
  process.exit(0)
})
