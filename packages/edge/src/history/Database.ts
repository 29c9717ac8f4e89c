/**
 * The edge's own small databases, in SQLite of the runtime. One process writes them, synchronously, a few rows a session;
 * a write that returned survives the end of the process. Rows are decoded like any foreign data.
 */
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { Effect, Schema, type Scope } from "effect"

const IN_MEMORY = ":memory:"

export interface Database {
  /** Rows of a query. A row that is not what it should be is a defect. */
  readonly all: <A>(
    schema: Schema.Codec<A, unknown>,
    sql: string,
    ...values: ReadonlyArray<SQLInputValue>
  ) => ReadonlyArray<A>
  readonly run: (sql: string, ...values: ReadonlyArray<SQLInputValue>) => void
  /** All of it is stored, or nothing. */
  readonly transaction: <A>(work: () => A) => A
  /** Whether it outlives the process. */
  readonly durable: boolean
}

const over = (handle: DatabaseSync, durable: boolean): Database => {
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
    transaction: (work) => {
      handle.exec("begin immediate")
      try {
        const result = work()
        handle.exec("commit")
        return result
      } catch (error) {
        handle.exec("rollback")
        throw error
      }
    },
    durable
  }
}

/** The folder and the file, which is for its owner only: SQLite gives its side files the mode of the file itself. */
const prepare = (path: string) => {
  mkdirSync(dirname(path), { recursive: true })
  closeSync(openSync(path, "a", 0o600))
  chmodSync(path, 0o600)
}

const openFile = (path: string, schema: string) => {
  if (path !== IN_MEMORY) prepare(path)
  const handle = new DatabaseSync(path, { timeout: 2_000 })
  handle.exec("pragma journal_mode = wal; pragma synchronous = normal;")
  handle.exec(schema)
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
      Effect.logWarning("a database is kept in memory only").pipe(
        Effect.annotateLogs({ path, reason: String(reason) })
      ),
      { handle: openFile(IN_MEMORY, schema), durable: false }
    )
  const { handle, durable } = yield* Effect.acquireRelease(file.pipe(Effect.catch(memory)), ({ handle }) =>
    Effect.sync(() => handle.close())
  )
  return over(handle, durable)
})
