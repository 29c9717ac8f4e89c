/** The edge's own files, replaced atomically. */
import * as PrivateFile from "@catenet/platform/PrivateFile"
import { Effect, FileSystem, Path } from "effect"
import * as EdgeFileErrors from "./EdgeFileErrors.ts"

const files = PrivateFile.make(EdgeFileErrors.inaccessible)

/** The content of `path`, or undefined when there is no such file. */
export const read = files.read

/** Replaces the file; creates missing folders. */
export const write = Effect.fn("DurableFile.write")(function* (content: PrivateFile.Content) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  yield* Effect.mapError(
    fs.makeDirectory(paths.dirname(content.path), { recursive: true }),
    EdgeFileErrors.inaccessible(content.path)
  )
  yield* files.replaceAll([content])
})

/** Reads the file, or creates it with owner-only permission from what `make` returns. */
export const readOrCreateSecret = Effect.fn("DurableFile.readOrCreateSecret")(function* (
  path: string,
  make: () => Uint8Array
) {
  const found = yield* read(path)
  if (found !== undefined) return found
  const bytes = make()
  yield* write({ path, bytes })
  return bytes
})
