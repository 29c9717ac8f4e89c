/**
 * Reads keys from files. A key that another user put there is rejected, because that user knows it; one that others can read is
 * restricted to its owner, with a warning. Root reads any user's keys.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, FileSystem, Option } from "effect"
import { CallFailed, StateUnusable } from "../Failure.ts"
import { unusable } from "./FileErrors.ts"
import * as PrivateFile from "./PrivateFile.ts"

// A card or an offer in a file, as text.

/** Size limit of a key file. */
export const longest = 1_048_576
export const tooLong = `it is longer than ${longest / 1_048_576} MiB`

/** Why the file is invalid: `kind` says what it should be. */
export const invalid = (path: string, kind: string, why: string): CallFailed =>
  new CallFailed({ detail: `${path} is no valid ${kind}: ${clause(why)}.` })

export const readSignedFile = Effect.fn("KeyFile.read")(function* (path: string, kind: string) {
  const fs = yield* FileSystem.FileSystem
  const unreadable = Effect.mapError(() => invalid(path, kind, "it cannot be read"))
  if ((yield* unreadable(fs.stat(path))).size > longest) return yield* invalid(path, kind, tooLong)
  return new TextDecoder().decode(yield* unreadable(fs.readFile(path)))
})

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

/** The content; undefined if the file does not exist. */
export const read = Effect.fn("KeyFile.read")(function* (path: string) {
  yield* check(path).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.void),
    Effect.mapError((error) => (error instanceof StateUnusable ? error : unusable(path)(error)))
  )
  return yield* PrivateFile.read(path)
})
