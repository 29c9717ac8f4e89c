/** A card or an offer in a file, as text. */
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, FileSystem } from "effect"
import { CallFailed } from "../Failure.ts"

/** Bytes of the longest file that is read. */
export const longest = 1_048_576
export const tooLong = `it is longer than ${longest / 1_048_576} MiB`

/** Why the file is not what it should be: `kind` says what that is. */
export const invalid = (path: string, kind: string, why: string): CallFailed =>
  new CallFailed({ detail: `${path} is no valid ${kind}: ${clause(why)}.` })

export const read = Effect.fn("SignedFile.read")(function* (path: string, kind: string) {
  const fs = yield* FileSystem.FileSystem
  const unreadable = Effect.mapError(() => invalid(path, kind, "it cannot be read"))
  if ((yield* unreadable(fs.stat(path))).size > longest) return yield* invalid(path, kind, tooLong)
  return new TextDecoder().decode(yield* unreadable(fs.readFile(path)))
})
