/** One process at a time reads and changes a file: a stored login, whose refresh token two processes must not use, or the turns of a pipeline. */
import { Effect, type FileSystem, type Scope } from "effect"
import { basename, dirname } from "node:path"
import { StateUnusable } from "../Failure.ts"
import * as FolderLock from "./FolderLock.ts"
import * as PrivateFile from "./PrivateFile.ts"

/** A refresh takes 15 seconds at most, and a run of bids hardly longer. */
const patience = 20_000
const pause = 100

const held: (path: string, tries: number) => Effect.Effect<void, StateUnusable, FileSystem.FileSystem | Scope.Scope> =
  Effect.fnUntraced(function* (path, tries) {
    if (yield* FolderLock.take(dirname(path), `${basename(path)}.lock`)) return
    if (tries <= 0)
      return yield* new StateUnusable({
        path,
        detail: "another ct-agent is changing it. Try again when that has ended."
      })
    yield* Effect.sleep(pause)
    yield* held(path, tries - 1)
  })

/** Runs this while no other process does so with this file. */
export const holding =
  (path: string) =>
  <A, E, R>(use: Effect.Effect<A, E, R>) =>
    Effect.scoped(
      Effect.gen(function* () {
        yield* PrivateFile.folder(dirname(path))
        yield* held(path, patience / pause)
        return yield* use
      })
    )
