/**
 * One user at a time of a folder: a lock of the system on a file in it, which ends with the process however that ends. It is
 * that of SQLite, which the runtime brings on every system.
 */
import { Effect } from "effect"
import { DatabaseSync } from "node:sqlite"
import { StateUnusable } from "../Failure.ts"

const isBusy = (error: unknown) => error instanceof Error && /\block(?:ed)?\b|\bbusy\b/i.test(error.message)

/** Holds the lock until the scope closes. False when another process has it. */
export const take = Effect.fn("FolderLock.take")(function* (folder: string, name: string) {
  const path = `${folder}/${name}`
  return yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        const database = new DatabaseSync(path)
        try {
          database.exec("pragma busy_timeout = 0; pragma journal_mode = delete; begin exclusive")
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
          detail: `it cannot be locked: ${error instanceof Error ? error.message : String(error)}`
        })
    }),
    (database) => Effect.sync(() => database?.close())
  ).pipe(Effect.map((database) => database !== undefined))
})
