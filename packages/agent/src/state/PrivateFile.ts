/**
 * Files that only their owner can read, replaced atomically. New content is staged as `<name>.new`, created with mode 0600,
 * synced and renamed. A staged file left by a dead process is overwritten; a link in its place is not followed. What is written
 * after a step that cannot be repeated is staged before it (`reserve`) and committed after it.
 */
import { Effect, FileSystem } from "effect"
import * as FileBackup from "./FileBackup.ts"
import { unusable } from "./FileErrors.ts"

export interface Content {
  readonly path: string
  readonly bytes: Uint8Array
  /** 0600 unless others may read it. */
  readonly mode?: number
}

const staged = (path: string) => `${path}.new`

const writeStaged = Effect.fnUntraced(function* ({ path, bytes, mode = 0o600 }: Content) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(staged(path), { force: true })
  const file = yield* fs.open(staged(path), { flag: "wx", mode })
  yield* file.writeAll(bytes)
  yield* file.sync
}, Effect.scoped)

/** Writes new content beside the target and syncs it. The target stays as it is until `commit`. */
export const stage = (content: Content) => Effect.mapError(writeStaged(content), unusable(content.path))

/** Stages blanks, so that this many bytes can be written later even if the disk is full by then. */
export const reserve = (path: string, length: number) =>
  stage({ path, bytes: new TextEncoder().encode(" ".repeat(length)) })

const rewriteStaged = Effect.fnUntraced(function* ({ path, bytes }: Content) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(staged(path), { flag: "r+", noFollow: true })
  yield* file.writeAll(bytes)
  yield* file.truncate(bytes.length)
  yield* file.sync
}, Effect.scoped)

/** Writes into the space reserved by `reserve`. */
export const rewrite = (content: Content) => Effect.mapError(rewriteStaged(content), unusable(content.path))

/** Syncs the folder, without which a rename may be forgotten. Not every system can; then it does nothing. */
const syncFolder = Effect.fnUntraced(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const slash = path.lastIndexOf("/")
    const folder = yield* fs.open(slash < 0 ? "." : path.slice(0, slash) || "/", { flag: "r" })
    yield* folder.sync
  },
  Effect.scoped,
  (syncing) => Effect.ignore(syncing)
)

/** Puts staged content in its place, in this order. */
export const commit = Effect.fn("PrivateFile.commit")(function* (paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(paths, (path) => Effect.mapError(fs.rename(staged(path), path), unusable(path)), {
    discard: true
  })
  if (paths[0] !== undefined) yield* syncFolder(paths[0])
}, Effect.uninterruptible)

/** Removes staged files, in this order. */
export const discard = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(paths, (path) => Effect.ignore(fs.remove(staged(path), { force: true })), { discard: true })
})

/** Replaces all files, in this order. If one cannot be staged or renamed, all stay unchanged and nothing staged is left. */
export const replaceAll = Effect.fn("PrivateFile.replaceAll")(function* (contents: ReadonlyArray<Content>) {
  const paths = contents.map(({ path }) => path)
  // The last one needs no way back: after it nothing can fail.
  const before = paths.slice(0, -1)
  yield* Effect.gen(function* () {
    yield* Effect.forEach(contents, stage, { discard: true })
    yield* Effect.forEach(before, FileBackup.keep, { discard: true })
    yield* Effect.onError(commit(paths), () => Effect.forEach(before, FileBackup.restore, { discard: true }))
  }).pipe(
    Effect.onError(() => discard(paths)),
    Effect.ensuring(Effect.forEach(before, FileBackup.remove, { discard: true }))
  )
}, Effect.uninterruptible)

/** Removes a file that is no longer needed. */
export const remove = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.remove(path, { force: true }), unusable(path))
})

/** The staged content of this file, or undefined. */
export const readStaged = (path: string) => read(staged(path))

/** The content; undefined if the file does not exist. */
export const read = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFile(path).pipe(
    Effect.map((bytes): Uint8Array | undefined => bytes),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.undefined),
    Effect.mapError(unusable(path))
  )
})

/** Creates a folder that only its owner may enter, with its parents; one that exists keeps its mode. */
export const folder = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(path, { recursive: true, mode: 0o700 }).pipe(
    // Node reports the same for a read-only disk; without `recursive` it distinguishes them.
    Effect.catchReason("PlatformError", "NotFound", () => fs.makeDirectory(path, { mode: 0o700 })),
    Effect.mapError(unusable(path))
  )
})

/** The path, or its substitute when the folder of the path does not exist on this machine. */
export const place = Effect.fnUntraced(function* (path: string, substitute: string) {
  const fs = yield* FileSystem.FileSystem
  const slash = path.lastIndexOf("/")
  const there = slash <= 0 || (yield* Effect.orElseSucceed(fs.exists(path.slice(0, slash)), () => false))
  return there ? path : substitute
})
