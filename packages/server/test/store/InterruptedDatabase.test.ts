/** A replica outlives a database that goes away between any two statements of its start, and while it serves. */
import { until } from "@catenet/testing/Eventually"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { replica } from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import * as Pooler from "../../src/store/Pooler.ts"

/** For how long the database takes no connection: longer than one pause between two attempts. */
const outageMillis = 600

/** The database behind a port that ends all its connections on demand, or as the n-th chunk arrives. */
const interruptible = Effect.fnUntraced(function* (url: Redacted.Redacted, nth: number) {
  const target = new URL(Redacted.value(url))
  const sockets = new Set<Socket>()
  let chunks = 0
  let refusesUntil = 0
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const goAway = (millis: number) => {
    refusesUntil = performance.now() + millis
    endAll()
  }
  const server = createServer((socket) => {
    if (performance.now() < refusesUntil) return void socket.destroy()
    const onward = connect(Number(target.port), target.hostname)
    for (const each of [socket, onward]) sockets.add(each.on("error", () => undefined))
    socket.on("close", () => onward.destroy())
    onward.on("close", () => socket.destroy())
    onward.pipe(socket)
    socket.on("data", (chunk) => {
      chunks += 1
      if (chunks === nth) goAway(outageMillis)
      else onward.write(chunk)
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))),
    () =>
      Effect.sync(() => {
        endAll()
        server.close()
      })
  )
  const { port } = server.address() as AddressInfo
  const through = Redacted.make(Object.assign(new URL(target), { host: `127.0.0.1:${port}` }).href)
  return { url: through, chunks: () => chunks, goAway }
})

/** A replica over the database as its owner, with an edge to which nothing answers. */
const started = Effect.fnUntraced(function* (nth: number) {
  const { url } = yield* TestDatabase
  const database = yield* interruptible(url, nth)
  const context = yield* Layer.build(
    replica({ CT_CP_EDGE_ADMIN_URL: "http://127.0.0.1:9" }).pipe(
      Layer.provide(Layer.succeed(TestDatabase, { url, serverUrl: database.url }))
    )
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  const ready = Effect.promise(async () => {
    const { status } = await fetch(`http://127.0.0.1:${"port" in address ? address.port : 0}/readyz`)
    return status
  })
  return { database, ready }
})

const isReady = (ready: Effect.Effect<number>) =>
  until(
    Effect.timeoutOrElse(ready, { duration: "10 seconds", orElse: () => Effect.die("no answer") }),
    (status) => status === 200
  )

/** What new sessions of the database say of writes: those of a standby are read-only. */
const setReadOnly = Effect.fnUntraced(function* (value: "on" | "off") {
  const { url } = yield* TestDatabase
  const name = new URL(Redacted.value(url)).pathname.slice(1)
  yield* SqlClient.SqlClient.use((sql) =>
    sql.unsafe(`alter database ${name} set default_transaction_read_only = ${value}`)
  ).pipe(
    Effect.provide(
      Layer.fresh(
        PgClient.layer({ url, maxConnections: 1, startupParameters: { default_transaction_read_only: "off" } })
      )
    )
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a replica", (it) => {
  it.effect("is ready only while the database takes writes, also where it was started before that", () =>
    Effect.gen(function* () {
      yield* setReadOnly("on")
      const { url } = yield* TestDatabase
      const said: Array<unknown> = []
      const log = Logger.layer([Logger.make(({ message }) => void said.push(message))])
      const looking = yield* Effect.forkScoped(Effect.provide(Pooler.look({ url }), log))
      yield* until(
        Effect.sync(() => String(said[0])),
        (line) => line.includes("standby")
      )
      yield* setReadOnly("off")
      assert.isFalse((yield* Fiber.join(looking)).isReadOnly)
      const { database, ready } = yield* started(Infinity)
      yield* isReady(ready)
      yield* setReadOnly("on")
      database.goAway(0)
      yield* until(ready, (status) => status === 503)
      yield* setReadOnly("off")
      database.goAway(0)
      yield* isReady(ready)
    }).pipe(Effect.scoped)
  )

  it.effect("serves although the database went away at any statement of its start", () =>
    Effect.gen(function* () {
      const statements = yield* Effect.scoped(Effect.map(started(Infinity), ({ database }) => database.chunks()))
      assert.isAbove(statements, 20)
      const points = Array.from({ length: statements }, (_, n) => n + 1)
      yield* Effect.forEach(
        points,
        (nth) => Effect.scoped(Effect.flatMap(started(nth), ({ ready }) => isReady(ready))),
        { concurrency: 8, discard: true }
      )
    })
  )

  it.effect("answers again after the database went away many times while requests were running", () =>
    Effect.gen(function* () {
      const { database, ready } = yield* started(Infinity)
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => n),
        (n) =>
          Effect.andThen(
            Effect.all(
              Array.from({ length: 10 }, () => ready),
              { concurrency: "unbounded" }
            ).pipe(Effect.timeout("10 seconds")),
            Effect.sync(() => database.goAway(n % 5))
          ),
        { concurrency: 2, discard: true }
      )
      yield* isReady(ready)
    }).pipe(Effect.scoped)
  )
})
