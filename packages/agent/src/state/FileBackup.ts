/** Backs up a file as `<name>.old` while several files are replaced together; if one cannot be, the earlier ones are restored. */
import { Effect, FileSystem } from "effect"
import { unusable } from "./FileErrors.ts"

const backupOf = (path: string) => `${path}.old`

/** Keeps the existing file, if any: as a hard link, or as a copy if the disk has no hard links. */
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

/** Restores the backup if possible; true if there was one. */
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
