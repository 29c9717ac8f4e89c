/**
 * A queue of writes, so that agents and visitors are served while the disk is full or another process holds the file. Writes are
 * atomic and in order; while the database is unavailable they wait in memory. Waiting writes are lost when the process ends.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Schedule } from "effect"

const every = "1 second"
const maxRowsWaiting = 65_536

/** Primary result codes of SQLite that may be temporary: busy, locked, no memory, read-only, I/O error, full, cannot open. */
const passingCodes = new Set([5, 6, 7, 8, 10, 13, 14])

const mayPass = (error: unknown) =>
  error instanceof Error && "errcode" in error && passingCodes.has(Number(error.errcode) & 0xff)

/** `rows` is the approximate number of rows that it holds in memory while it waits. */
export type Write = (work: () => void, rows?: number) => void

/** `path` names the database in the log. */
export const make = Effect.fn("WriteQueue.make")(function* (path: string, transaction: (work: () => void) => void) {
  const waiting: Array<{ readonly work: () => void; readonly rows: number }> = []
  let rowsWaiting = 0
  let lost = 0
  let failure: unknown
  let isLogged = false

  const settle = () => {
    let done = 0
    for (const { rows, work } of waiting) {
      try {
        transaction(work)
      } catch (error) {
        failure = error
        if (mayPass(error)) break
        lost += 1
      }
      done += 1
      rowsWaiting -= rows
    }
    waiting.splice(0, done)
  }

  /** Retries waiting writes, and logs the beginning and the end of an outage. */
  const tend = Effect.suspend(() => {
    settle()
    const stuck = waiting.length > 0
    if (stuck === isLogged && lost === 0) return Effect.void
    isLogged = stuck
    const facts = { path, waiting: waiting.length, lost, reason: String(failure) }
    lost = 0
    return stuck || facts.lost > 0
      ? Effect.annotateLogs(Effect.logError("a database does not take what is written to it"), facts)
      : Effect.annotateLogs(Effect.logInfo("a database takes what is written to it again"), { path })
  })

  const tending = tend.pipe(Effect.delay(every), Effect.repeat(Schedule.forever))
  yield* Effect.forkScoped(tending.pipe(retryForever("writing to a database")))
  yield* Effect.addFinalizer(() => Effect.sync(settle))
  const write: Write = (work, rows = 1) => {
    if (rowsWaiting >= maxRowsWaiting) {
      lost += 1
      return
    }
    waiting.push({ work, rows })
    rowsWaiting += rows
    if (waiting.length === 1) settle()
  }
  return write
})
