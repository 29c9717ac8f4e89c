/** Hands over to the version that is on trial, or to the program that is in this one's place. Nothing may be open any more. */
import { Effect } from "effect"
import { programOf } from "./TrialFiles.ts"
import { supervise } from "./TrialParent.ts"
import { environment, hasParent } from "./TrialRole.ts"

const args = () => process.argv.slice(2)

/**
 * This process becomes the parent of what is on trial, as the executable that is kept for it. It never returns.
 */
export const withTrial = (parent: string) =>
  Effect.callback<never>(() => {
    // The one that waits already goes on with the newer version.
    if (hasParent()) process.exit(0)
    if (process.platform !== "win32") process.execve?.(parent, [parent, ...args()], environment("parent"))
    supervise(programOf(parent), args())
  })
