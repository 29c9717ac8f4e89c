/**
 * The edge's own small databases, in SQLite of the runtime. One process writes them, a few rows a session, at once unless
 * the database does not take them; what is written survives the end of the process. Rows are decoded like any foreign data.
 */
import { Files } from "@catenet/platform/Files"
import { Effect, Schema, type Scope } from "effect"
import { dirname } from "node:path"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import * as WriteQueue from "./WriteQueue.ts"

const inMemory = ":memory:"
/** How long a write may hold up everything else when another process has the file. */
const lockMillis = 100
/** At the start nothing else is held up, and the edge before may still be writing its last. */
const openMillis = 2_000

export interface Database {
  /** Rows of a query. A row that is not what it should be is a defect. */
  readonly all: <A>(
    schema: Schema.Codec<A, unknown>,
    sql: string,
    ...values: ReadonlyArray<SQLInputValue>
  ) => ReadonlyArray<A>
  /** A statement; call it in the work of `write`. */
  readonly run: (sql: string, ...values: ReadonlyArray<SQLInputValue>) => void
  /** Does the work in a transaction of its own: now, or when the database takes it again. Never fails. */
  readonly write: WriteQueue.Write
  /** Whether it outlives the process. */
  readonly durable: boolean
}

/** All of the work is stored, or nothing. */
const transactionOf = (handle: DatabaseSync) => (work: () => void) => {
  handle.exec("begin immediate")
  try {
    work()
    handle.exec("commit")
  } catch (error) {
    // A full disk may have rolled it back already.
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
 * Opens the file and creates what is missing of `schema`; where that is impossible, a database in memory and a warning.
 * Closed with the scope.
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
