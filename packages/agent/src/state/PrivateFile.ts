/**
 * Files that only their owner may read, replaced whole or not at all. New content is staged beside the target as `<name>.new`,
 * created with mode 0600 in the same system call that creates it, synced, and renamed. A staged file of a dead process is
 * overwritten; a link in its place is not followed.
 */
import { Effect, FileSystem, type PlatformError } from "effect"
import { StateUnusable } from "../Failure.ts"

export interface Content {
  readonly path: string
  readonly bytes: Uint8Array
}

const staged = (path: string) => `${path}.new`

/** The system's own words, without the call and the path behind them. */
const words = ({ message, reason }: PlatformError.PlatformError) =>
  reason.cause instanceof Error ? reason.cause.message.replace(/,.*/s, "") : message

const unusable = (path: string) => (error: PlatformError.PlatformError) =>
  new StateUnusable({ path, detail: `${words(error)}. Make the folder readable and writable for this user.` })

const stage = Effect.fnUntraced(function* ({ path, bytes }: Content) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(staged(path), { force: true })
  const file = yield* fs.open(staged(path), { flag: "wx", mode: 0o600 })
  yield* file.writeAll(bytes)
  yield* file.sync
}, Effect.scoped)

/** Replaces all of these files, in this order. When one cannot be staged none is touched, and nothing staged stays behind. */
export const replaceAll = Effect.fn("PrivateFile.replaceAll")(function* (contents: ReadonlyArray<Content>) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(contents, (content) => Effect.mapError(stage(content), unusable(content.path)), {
    discard: true
  }).pipe(
    Effect.onError(() =>
      Effect.forEach(contents, ({ path }) => Effect.ignore(fs.remove(staged(path), { force: true })), { discard: true })
    )
  )
  yield* Effect.forEach(contents, ({ path }) => Effect.mapError(fs.rename(staged(path), path), unusable(path)), {
    discard: true
  })
}, Effect.uninterruptible)

/** Finishes the renames of a `replaceAll` that was killed between two of them. */
export const finish = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(path)) && (yield* fs.exists(staged(path)))) yield* fs.rename(staged(path), path)
})

/** The content, or undefined when there is no such file. */
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
  yield* Effect.mapError(fs.makeDirectory(path, { recursive: true, mode: 0o700 }), unusable(path))
})

/** The path, or its substitute when the folder of the path does not exist on this machine. */
export const place = Effect.fnUntraced(function* (path: string, substitute: string) {
  const fs = yield* FileSystem.FileSystem
  const slash = path.lastIndexOf("/")
  const there = slash <= 0 || (yield* Effect.orElseSucceed(fs.exists(path.slice(0, slash)), () => false))
  return there ? path : substitute
})
