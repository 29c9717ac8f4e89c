/**
 * The backup of a file, beside it as `<name>.old` while several files are replaced together: where one of them cannot be,
 * those before it are restored.
 */
import { Effect, FileSystem } from "effect"
import { unusable } from "./FileErrors.ts"

const backupOf = (path: string) => `${path}.old`

/** Keeps what is there, if anything is: the same file by a second name, or a copy where the disk has no such names. */
export const keep = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const copy = Effect.gen(function* () {
    const bytes = yield* fs.readFile(path)
    const file = yield* fs.open(backupOf(path), { flag: "wx", mode: 0o600 })
    yield* file.writeAll(bytes)
    yield* file.sync
  }).pipe(Effect.scoped)
  yield* fs.remove(backupOf(path), { force: true }).pipe(
    Effect.andThen(fs.link(path, backupOf(path)).pipe(Effect.catch(() => copy))),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.void),
    Effect.mapError(unusable(path))
  )
})

/** Puts the backup in the place of the file, as far as that can be done; true where there was one. */
export const restore = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.rename(backupOf(path), path).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
})

/** The content of the backup, or undefined. */
export const read = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(fs.readFile(backupOf(path)), () => undefined)
})

export const remove = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.ignore(fs.remove(backupOf(path), { force: true }))
})
