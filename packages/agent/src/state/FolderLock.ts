/**
 * One user at a time of a folder: a lock of the system on a file in it, which ends with the process however that ends. It is
 * that of SQLite, which the runtime brings on every system.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, FileSystem } from "effect"
import { StateUnusable } from "../Failure.ts"
import { unusable } from "./FileErrors.ts"

/** Windows cannot refuse a link here. */
const noFollow = process.platform !== "win32"

/** SQLITE_BUSY and SQLITE_LOCKED; the higher bits of a code only tell their kinds apart. */
const busy = new Set([5, 6])
const isBusy = (error: unknown) =>
  error instanceof Error && "errcode" in error && busy.has(Number(error.errcode) & 0xff)

/** Holds the lock until the scope closes. False when another process has it. */
export const take = Effect.fn("FolderLock.take")(function* (folder: string, name: string) {
  const path = `${folder}/${name}`
  const fs = yield* FileSystem.FileSystem
  // The system says what is wrong with the file; SQLite does not.
  yield* Effect.mapError(Effect.scoped(fs.open(path, { flag: "a+", mode: 0o600, noFollow })), unusable(path))
  return yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        // Loaded by those that lock: an agent that serves holds 2 MB less.
        const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
        const database = new DatabaseSync(path)
        try {
          // Nothing is written, so that a full disk does not keep the lock from being taken.
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
