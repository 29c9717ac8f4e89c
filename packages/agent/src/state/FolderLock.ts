/**
 * Locks a folder or file for one process. The lock is the operating system's (through SQLite, which the runtime includes), so it
 * ends with the process.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, FileSystem, type Scope } from "effect"
import { basename, dirname } from "node:path"
import { StateUnusable } from "../Failure.ts"
import { unusable } from "./FileErrors.ts"
import * as PrivateFile from "./PrivateFile.ts"

// Only one process at a time reads and changes such a file: a stored login, whose refresh token must be used once, or a
// pipeline's history.

/** A refresh takes at most 15 seconds, and a run of bids hardly longer. */
const patience = 20_000
const pause = 100

const held: (path: string, tries: number) => Effect.Effect<void, StateUnusable, FileSystem.FileSystem | Scope.Scope> =
  Effect.fnUntraced(function* (path, tries) {
    if (yield* take(dirname(path), `${basename(path)}.lock`)) return
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

/** Windows cannot refuse a link here. */
const noFollow = process.platform !== "win32"

/** SQLITE_BUSY and SQLITE_LOCKED; the higher bits distinguish only their kinds. */
const busy = new Set([5, 6])
const isBusy = (error: unknown) =>
  error instanceof Error && "errcode" in error && busy.has(Number(error.errcode) & 0xff)

/** Holds the lock until the scope closes. False when another process has it. */
export const take = Effect.fn("FolderLock.take")(function* (folder: string, name: string) {
  const path = `${folder}/${name}`
  const fs = yield* FileSystem.FileSystem
  // The system reports what is wrong with the file; SQLite does not.
  yield* Effect.mapError(Effect.scoped(fs.open(path, { flag: "a+", mode: 0o600, noFollow })), unusable(path))
  return yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        // Loaded only when a lock is needed: a serving agent saves 2 MB.
        const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
        const database = new DatabaseSync(path)
        try {
          // Nothing is written, so a full disk does not prevent locking.
          database.exec("pragma busy_timeout = 0; pragma journal_mode = memory; begin exclusive")
          return database
        } catch (error) {
          database.close()
          if (isBusy(error)) return undefined
          throw error
        }
      },
      catch: (error) =>
        new StateUnusable({
          path,
          detail: `it cannot be locked: ${clause(error instanceof Error ? error.message : String(error))}. Remove it while no agent runs.`
        })
    }),
    (database) => Effect.sync(() => database?.close())
  ).pipe(Effect.map((database) => database !== undefined))
})
