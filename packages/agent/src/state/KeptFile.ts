/**
 * What is in a file's place is kept beside it as `<name>.old` while several files are replaced together: where one of them
 * cannot be, those before it get theirs back.
 */
import { Effect, FileSystem } from "effect"
import { unusable } from "./FileProblem.ts"

const kept = (path: string) => `${path}.old`

/** Keeps what is there, if anything is: the same file by a second name, or a copy where the disk has no such names. */
export const keep = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const copy = Effect.gen(function* () {
    const bytes = yield* fs.readFile(path)
    const file = yield* fs.open(kept(path), { flag: "wx", mode: 0o600 })
    yield* file.writeAll(bytes)
    yield* file.sync
  }).pipe(Effect.scoped)
  yield* fs.remove(kept(path), { force: true }).pipe(
    Effect.andThen(fs.link(path, kept(path)).pipe(Effect.catch(() => copy))),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.void),
    Effect.mapError(unusable(path))
  )
})

/** Puts what was kept back in its place, as far as that can be done; true where there was something. */
export const restore = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.rename(kept(path), path).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
})

/** The content that is kept, or undefined. */
export const read = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(fs.readFile(kept(path)), () => undefined)
})

export const forget = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.ignore(fs.remove(kept(path), { force: true }))
})
