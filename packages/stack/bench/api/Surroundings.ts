/**
 * What both servers stand on: a PostgreSQL of the bench's own, a key that signs access tokens, and databases on the
 * newest schema. All of it goes when the bench ends.
 */
import { migrate } from "@catenet/server/internal/store/Migrations"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { exportSPKI, generateKeyPair, SignJWT } from "jose"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Cluster from "../../src/postgres/Cluster.ts"

export const issuer = "http://127.0.0.1:9/realms/bench"
export const audience = "catenet"
export const adminToken = "ad".repeat(32)

export interface Surroundings {
  /** The process that has started all of PostgreSQL. */
  readonly postgres: number
  /** File of the public key that verifies access tokens. */
  readonly keyPath: string
  readonly tokenOf: (subject: string) => Promise<string>
  /** Makes a database on the newest schema, fills it by several lists of statements at once, and returns its URL. */
  readonly database: (name: string, ...fill: ReadonlyArray<ReadonlyArray<string>>) => Promise<string>
  /** Runs statements in a database. */
  readonly run: (url: string, ...statements: ReadonlyArray<string>) => Promise<void>
  /** Transactions in a database so far; a statement of its own is one. */
  readonly transactions: (url: string) => Promise<number>
  readonly dispose: () => Promise<void>
}

/** Rows that are known to fit are not looked up in the tables that they refer to, which is most of the work. */
const trusting = { session_replication_role: "replica" }

const inDatabase = <A, E>(
  url: string,
  effect: Effect.Effect<A, E, SqlClient.SqlClient>,
  startupParameters: Readonly<Record<string, string>> = {}
): Promise<A> =>
  Effect.runPromise(
    effect.pipe(
      Effect.provide(Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 2, startupParameters }))),
      Effect.provideService(References.MinimumLogLevel, "Warn")
    )
  )

const statements = (all: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of all) yield* sql.unsafe(statement)
  })

/** What ends a run early; PostgreSQL must not outlive it. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

export const make = async (): Promise<Surroundings> => {
  const folder = mkdtempSync(join(tmpdir(), "catenet-bench-"))
  const data = join(folder, "postgres")
  const scope = Scope.makeUnsafe()
  const interrupted = () => void dispose().finally(() => process.exit(130))
  const dispose = async () => {
    for (const signal of signals) process.off(signal, interrupted)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(realpathSync(data), { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  }
  for (const signal of signals) process.once(signal, interrupted)
  const cluster = await Effect.runPromise(Cluster.start({ folder: data, disposable: true }).pipe(Scope.provide(scope)))
  const { privateKey, publicKey } = await generateKeyPair("RS256")
  const keyPath = join(folder, "key.pem")
  writeFileSync(keyPath, await exportSPKI(publicKey))
  return {
    postgres: cluster.pid,
    keyPath,
    tokenOf: (subject) =>
      new SignJWT({ typ: "Bearer" })
        .setProtectedHeader({ alg: "RS256", kid: "bench", typ: "JWT" })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime("8 hours")
        .sign(privateKey),
    database: async (name, ...lists) => {
      await inDatabase(Redacted.value(cluster.url("postgres")), statements([`create database ${name}`]))
      const url = Redacted.value(cluster.url(name))
      await inDatabase(url, migrate)
      await Promise.all(lists.map((list) => inDatabase(url, statements(list), trusting)))
      await inDatabase(url, statements(["vacuum analyze"]))
      return url
    },
    transactions: (url) =>
      inDatabase(
        url,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          // A connection reports what it did when it has rested for a while.
          yield* Effect.sleep("2 seconds")
          const [row] = yield* sql<{ count: string }>`
            select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()`
          return Number(row?.count)
        })
      ),
    run: (url, ...all) => inDatabase(url, statements(all)),
    dispose
  }
}
