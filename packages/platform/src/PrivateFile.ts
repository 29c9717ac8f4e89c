/**
 * Files that only their owner can read, replaced atomically. New content is staged as `<name>.new`, created with its mode, synced
 * and renamed. A staged file left by a dead process is overwritten; a link in its place is not followed. What is written after a
 * step that cannot be repeated is staged before it (`reserve`) and committed after it.
 */
import { Effect, FileSystem, type PlatformError } from "effect"
import { Files } from "./Files.ts"

export interface Content {
  readonly path: string
  readonly bytes: Uint8Array
  /** 0600 unless others may read it. */
  readonly mode?: number
}

/** The system's own words about a file, without the call and the path behind them. */
export const describe = ({ message, reason }: PlatformError.PlatformError): string =>
  reason.cause instanceof Error ? reason.cause.message.replace(/,.*/s, "") : message

const staged = (path: string) => `${path}.new`
const backupOf = (path: string) => `${path}.old`

const create = Effect.fnUntraced(function* ({ bytes, mode = 0o600, path }: Content) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(path, { flag: "wx", mode })
  yield* file.writeAll(bytes)
  yield* file.sync
}, Effect.scoped)

const overwrite = Effect.fnUntraced(function* ({ bytes, path }: Content) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(path, { flag: "r+", noFollow: true })
  yield* file.writeAll(bytes)
  yield* file.truncate(bytes.length)
  yield* file.sync
}, Effect.scoped)

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

/** Keeps what is there, if anything is: the same file by a second name, or a copy where the disk has no such names. */
const keepBackup = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const copy = Effect.flatMap(fs.readFile(path), (bytes) => create({ path: backupOf(path), bytes }))
  yield* fs.remove(backupOf(path), { force: true }).pipe(
    Effect.andThen(fs.link(path, backupOf(path)).pipe(Effect.catch(() => copy))),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.void)
  )
})

/** Puts the backup of `<name>.old` in the place of the file, as far as that can be done; true where there was one. */
export const restoreBackup = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.rename(backupOf(path), path).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
})

/** The content of the backup, or undefined. */
export const readBackup = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(fs.readFile(backupOf(path)), () => undefined)
})

export const removeBackup = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.ignore(fs.remove(backupOf(path), { force: true }))
})

/** Forgets what was staged, in this order. */
export const discard = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(paths, (path) => Effect.ignore(fs.remove(staged(path), { force: true })), { discard: true })
})

/** The operations, failing with what a program tells of a file that it cannot use. */
export const make = <E>(unusable: (path: string) => (error: PlatformError.PlatformError) => E) => {
  /** Writes new content beside the target and syncs it. The target stays as it is until `commit`. */
  const stage = Effect.fnUntraced(function* (content: Content) {
    const fs = yield* FileSystem.FileSystem
    yield* fs
      .remove(staged(content.path), { force: true })
      .pipe(Effect.andThen(create({ ...content, path: staged(content.path) })), Effect.mapError(unusable(content.path)))
  })

  /** Stages blanks, so that this many bytes can be written later on a disk that is full by then. */
  const reserve = (path: string, length: number) => stage({ path, bytes: new TextEncoder().encode(" ".repeat(length)) })

  /** Writes into the place that `reserve` made. */
  const rewrite = ({ bytes, path }: Content) =>
    Effect.mapError(overwrite({ path: staged(path), bytes }), unusable(path))

  /** Puts staged content in its place, in this order. */
  const commit = Effect.fn("PrivateFile.commit")(function* (paths: ReadonlyArray<string>) {
    const fs = yield* FileSystem.FileSystem
    yield* Effect.forEach(paths, (path) => Effect.mapError(fs.rename(staged(path), path), unusable(path)), {
      discard: true
    })
    if (paths[0] !== undefined) yield* syncFolder(paths[0])
  }, Effect.uninterruptible)

  /**
   * Replaces all of these files, in this order. When one cannot be staged or put in its place all stay as they were, and nothing
   * staged stays behind.
   */
  const replaceAll = Effect.fn("PrivateFile.replaceAll")(function* (contents: ReadonlyArray<Content>) {
    const paths = contents.map(({ path }) => path)
    // The last one needs no way back: after it nothing can fail.
    const before = paths.slice(0, -1)
    const keep = (path: string) => Effect.mapError(keepBackup(path), unusable(path))
    yield* Effect.gen(function* () {
      yield* Effect.forEach(contents, stage, { discard: true })
      yield* Effect.forEach(before, keep, { discard: true })
      yield* Effect.onError(commit(paths), () => Effect.forEach(before, restoreBackup, { discard: true }))
    }).pipe(
      Effect.onError(() => discard(paths)),
      Effect.ensuring(Effect.forEach(before, removeBackup, { discard: true }))
    )
  }, Effect.uninterruptible)

  /** Removes a file that is not needed any more. */
  const remove = Effect.fnUntraced(function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    yield* Effect.mapError(fs.remove(path, { force: true }), unusable(path))
  })

  const readAt = Effect.fnUntraced(function* (path: string, place: string) {
    const fs = yield* FileSystem.FileSystem
    return yield* fs.readFile(place).pipe(
      Effect.map((bytes): Uint8Array | undefined => bytes),
      Effect.catchReason("PlatformError", "NotFound", () => Effect.undefined),
      Effect.mapError(unusable(path))
    )
  })

  /** The content, or undefined when there is no such file. */
  const read = (path: string) => readAt(path, path)

  /** What is staged for this file, or undefined. */
  const readStaged = (path: string) => readAt(staged(path), staged(path))

  /** Creates a folder that only its owner may enter, with its parents; one that exists keeps its mode. */
  const folder = Effect.fnUntraced(function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(path, { recursive: true, mode: 0o700 }).pipe(
      // Node reports the same for a read-only disk; without `recursive` it distinguishes them.
      Effect.catchReason("PlatformError", "NotFound", () => fs.makeDirectory(path, { mode: 0o700 })),
      Effect.mapError(unusable(path))
    )
  })

  return { commit, folder, read, readStaged, remove, replaceAll, reserve, rewrite, stage }
}

/** Replaces one file at once; for programs that prepare their folder before they run. */
export const replaceNow = (path: string, content: string | Uint8Array): void => {
  try {
    Files.rmSync(staged(path), { force: true })
    Files.writeFileSync(staged(path), content, { mode: 0o600, flag: "wx", flush: true })
    Files.renameSync(staged(path), path)
  } catch (cause) {
    Files.rmSync(staged(path), { force: true })
    throw cause
  }
}
