/**
 * The edge's small databases, in the runtime's SQLite. One process writes them, a few rows per session; if the database is
 * unavailable, writes wait. Written rows survive the process. Rows are decoded like any foreign data.
 */
import { Files } from "@catenet/platform/Files"
import { Effect, Schema, type Scope } from "effect"
import { dirname } from "node:path"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import * as WriteQueue from "./WriteQueue.ts"

const inMemory = ":memory:"
/** How long a write may block while another process has the file. */
const lockMillis = 100
/** The same at startup, when nothing else is blocked and a previous edge may still be writing. */
const openMillis = 2_000

export interface Database {
  /** Rows of a query. An invalid row is a defect. */
  readonly all: <A>(
    schema: Schema.Codec<A, unknown>,
    sql: string,
    ...values: ReadonlyArray<SQLInputValue>
  ) => ReadonlyArray<A>
  /** Runs a statement; call it inside `write`. */
  readonly run: (sql: string, ...values: ReadonlyArray<SQLInputValue>) => void
  /** Runs the work in its own transaction: now, or when the database is available again. Never fails. */
  readonly write: WriteQueue.Write
  /** Whether it is stored on disk. */
  readonly durable: boolean
}

/** All of the work is stored, or nothing. */
const transactionOf = (handle: DatabaseSync) => (work: () => void) => {
  handle.exec("begin immediate")
  try {
    work()
    handle.exec("commit")
  } catch (error) {
    // A full disk may already have rolled it back.
    if (handle.isTransaction) handle.exec("rollback")
    throw error
  }
}

const over = (handle: DatabaseSync, durable: boolean, write: Database["write"]): Database => {
  const prepared = new Map<string, StatementSync>()
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? handle.prepare(sql)
    prepared.set(sql, known)
    return known
  }
  return {
    all: (schema, sql, ...values) => {
      const decode = Schema.decodeUnknownSync(schema)
      return statement(sql)
        .all(...values)
        .map((row) => decode(row))
    },
    run: (sql, ...values) => void statement(sql).run(...values),
    write,
    durable
  }
}

/** The folder and the file, which is for its owner only: SQLite gives its side files the mode of the file itself. */
const prepare = (path: string) => {
  Files.mkdirSync(dirname(path), { recursive: true })
  Files.closeSync(Files.openSync(path, "a", 0o600))
  Files.chmodSync(path, 0o600)
}

const openFile = (path: string, schema: string) => {
  if (path !== inMemory) prepare(path)
  const handle = new DatabaseSync(path, { timeout: openMillis })
  handle.exec("pragma journal_mode = wal; pragma synchronous = normal;")
  handle.exec(schema)
  handle.exec(`pragma busy_timeout = ${lockMillis}`)
  return handle
}

/**
 * Opens the file and creates what is missing of `schema`. If that fails, it logs a warning and uses a database in memory. Closed
 * with the scope.
 */
export const open: (path: string, schema: string) => Effect.Effect<Database, never, Scope.Scope> = Effect.fn(
  "Database.open"
)(function* (path: string, schema: string) {
  const file = Effect.map(Effect.try({ try: () => openFile(path, schema), catch: (error) => error }), (handle) => ({
    handle,
    durable: true
  }))
  const memory = (reason: unknown) =>
    Effect.as(
      Effect.logWarning(
        "a database is kept in memory only and lost at the end; make its path writable and start the edge again"
      ).pipe(Effect.annotateLogs({ path, reason: reason instanceof Error ? reason.message : String(reason) })),
      { handle: openFile(inMemory, schema), durable: false }
    )
  const { handle, durable } = yield* Effect.acquireRelease(file.pipe(Effect.catch(memory)), ({ handle }) =>
    Effect.sync(() => handle.close())
  )
  return over(handle, durable, yield* WriteQueue.make(path, transactionOf(handle)))
})
