/**
 * Keys of the agent's own that stand in files. One that another user put there is refused, since that user knows it; one that
 * others can read is narrowed to its owner, and said. Root reads the keys of every user, for whom it acts.
 */
import { Effect, FileSystem, Option } from "effect"
import { StateUnusable } from "../Failure.ts"
import { unusable } from "./FileErrors.ts"
import * as PrivateFile from "./PrivateFile.ts"

const root = 0

const narrow = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const isNarrowed = yield* Effect.orElseSucceed(Effect.as(fs.chmod(path, 0o600), true), () => false)
  yield* Effect.logWarning(
    isNarrowed
      ? `others could read ${path}; now its owner alone can. Replace the key if they may have read it.`
      : `others can read ${path}, and that cannot be changed here. Run: chmod 600 ${path}`
  )
})

const check = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const me = process.getuid?.()
  if (me === undefined) return
  const { mode, type, uid } = yield* fs.stat(path)
  if (type !== "File") return
  const owner = Option.getOrElse(uid, () => me)
  if (me !== root && owner !== me && owner !== root)
    return yield* new StateUnusable({
      path,
      detail: "another user owns it, so it is not used. Remove it, or make this user its owner."
    })
  if ((mode & 0o077) !== 0) yield* narrow(path)
})

/** The content, or undefined when there is no such file. */
export const read = Effect.fn("KeyFile.read")(function* (path: string) {
  yield* check(path).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.void),
    Effect.mapError((error) => (error instanceof StateUnusable ? error : unusable(path)(error)))
  )
  return yield* PrivateFile.read(path)
})
