/** Files that survive a crash: written beside their place, flushed, then renamed, so that a reader sees old or new. */
import { Effect, FileSystem, Option, Path } from "effect"

/** Writes `content` to `path` in one step; `mode` holds from the first byte on. Creates missing folders. */
export const write = Effect.fn("DurableFile.write")(function* (path: string, content: Uint8Array, mode: number) {
  const fs = yield* FileSystem.FileSystem
  const folders = yield* Path.Path
  yield* fs.makeDirectory(folders.dirname(path), { recursive: true })
  const draft = `${path}.new`
  yield* fs.remove(draft, { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(draft, { flag: "wx", mode })
      yield* file.writeAll(content)
      yield* file.sync
    })
  )
  yield* fs.rename(draft, path)
})

/** The content of `path`, or none when there is no such file. Any other failure is a failure. */
export const read = Effect.fn("DurableFile.read")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.exists(path)) ? Option.some(yield* fs.readFile(path)) : Option.none()
})

/** Reads the file, or creates it with owner-only permission from what `make` returns. */
export const readOrCreateSecret = Effect.fn("DurableFile.readOrCreateSecret")(function* (
  path: string,
  make: () => Uint8Array
) {
  const found = yield* read(path)
  if (Option.isSome(found)) return found.value
  const content = make()
  yield* write(path, content, 0o600)
  return content
})
