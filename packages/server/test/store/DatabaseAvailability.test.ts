import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { DatabaseUnreachable, isUnavailable, retryWhileUnavailable } from "../../src/store/DatabaseAvailability.ts"
import { answersTls } from "../../src/store/DatabaseTls.ts"

const failure = (url: Redacted.Redacted, statement: string, startupParameters: Record<string, string> = {}) =>
  SqlClient.SqlClient.use((sql) => Effect.flip(sql.unsafe(statement))).pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1, startupParameters })),
    Effect.catch((error) => Effect.succeed(error))
  )

/** The same database behind a port that hangs up on the first connections. */
const behind = (url: Redacted.Redacted, refusals: number) =>
  Effect.gen(function* () {
    const there = new URL(Redacted.value(url))
    const sockets = new Set<Socket>()
    let refused = 0
    const server = createServer((socket) => {
      if (refused++ < refusals) return void socket.destroy()
      const onward = connect(Number(there.port), there.hostname)
      for (const each of [socket, onward]) sockets.add(each.on("error", () => {}))
      socket.pipe(onward).pipe(socket)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))),
      () =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        })
    )
    const { port } = server.address() as AddressInfo
    return Redacted.make(Object.assign(new URL(there), { host: `127.0.0.1:${port}` }).href)
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a database", (it) => {
  it.effect("is away when it ends the connection or when no server answers, and not when it refuses a statement", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      assert.isTrue(isUnavailable(yield* failure(url, "select pg_terminate_backend(pg_backend_pid())")))
      assert.isTrue(isUnavailable(yield* failure(Redacted.make("postgres://unused@127.0.0.1:1/none"), "select 1")))
      const standby = { default_transaction_read_only: "on" }
      assert.isTrue(isUnavailable(yield* failure(url, "create table written ()", standby)))
      assert.isFalse(isUnavailable(yield* failure(url, "select 1 / 0")))
      assert.isFalse(isUnavailable(yield* failure(url, "select nonsense")))
      assert.isFalse(isUnavailable(new Error("something else")))
    })
  )

  it.effect("is said with what the system said", () =>
    Effect.gen(function* () {
      const cause = yield* failure(Redacted.make("postgres://unused@127.0.0.1:1/none"), "select 1")
      assert.strictEqual(
        new DatabaseUnreachable({ cause }).message,
        "The database does not answer (connect ECONNREFUSED 127.0.0.1:1); " +
          "see to it that the server is up and that CT_CP_DATABASE_URL names it."
      )
    })
  )

  it.effect("is asked for TLS again while it is away, and that is said at once, with the cause", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const there = new URL(Redacted.value(yield* behind(url, 2)))
      const said: Array<unknown> = []
      const log = Logger.layer([Logger.make(({ message }) => void said.push(message))])
      assert.isFalse(yield* Effect.provide(answersTls([there]), log))
      assert.deepStrictEqual(said, [
        [`The database does not respond yet (${there.host} closes the connection); trying for 30 seconds.`]
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("is asked again before the server serves, while it is away and no longer", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const ask = (statement: string) =>
        SqlClient.SqlClient.use((sql) => retryWhileUnavailable(sql.unsafe<{ one: number }>(statement)))
      const soon = PgClient.layer({ url: yield* behind(url, 2), maxConnections: 1 })
      assert.deepStrictEqual(yield* Effect.provide(ask("select 1 as one"), soon), [{ one: 1 }])
      const refused = yield* Effect.flip(Effect.provide(ask("select nonsense"), PgClient.layer({ url })))
      assert.isFalse(isUnavailable(refused))
    }).pipe(Effect.scoped)
  )
})
