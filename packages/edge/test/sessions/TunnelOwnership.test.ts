import { token } from "@catenet/testing/edge/TestEdge"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Logger, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TunnelOwnership, maxOwners } from "../../src/sessions/TunnelOwnership.ts"
import { HistoryDatabase } from "../../src/sqlite/HistoryDatabase.ts"
import * as Database from "../../src/sqlite/SqliteDatabase.ts"

const T = token("1")
const tableSql = `create table if not exists agent_keys (
  tunnel text primary key, key text not null, last_seen integer not null
) strict, without rowid`
const inMemory = TunnelOwnership.layerNoDeps.pipe(Layer.provide(Layer.succeed(HistoryDatabase, { db: undefined })))

describe("AgentKeys", () => {
  it.effect("gives a tunnel to its first key until a day after that key was last seen", () =>
    Effect.gen(function* () {
      const keys = yield* TunnelOwnership
      assert.isTrue(keys.owns(T, "first"))
      assert.isFalse(keys.owns(T, "second"))
      yield* TestClock.adjust("23 hours")
      keys.seen(T)
      yield* TestClock.adjust("23 hours")
      assert.isFalse(keys.owns(T, "second"))
      assert.isTrue(keys.owns(token("2"), "second"))
      yield* TestClock.adjust("1 hour")
      assert.isTrue(keys.owns(T, "second"))
      assert.isFalse(keys.owns(T, "first"))
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("stores only keys seen within a day, the latest where there are too many", () =>
    Effect.gen(function* () {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const db = yield* Database.open(`${folder}/keys.sqlite`, tableSql)
      const count = () =>
        db.all(Schema.Struct({ rows: Schema.Int }), "select count(*) as rows from agent_keys")[0]?.rows
      const layer = TunnelOwnership.layerNoDeps.pipe(Layer.provide(Layer.succeed(HistoryDatabase, { db })))
      const keys = Context.get(yield* Layer.build(layer), TunnelOwnership)
      assert.isTrue(keys.owns(T, "first"))
      yield* TestClock.adjust("23 hours")
      assert.isTrue(keys.owns(token("2"), "second"))
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(count(), 1)
      assert.isFalse(keys.owns(token("2"), "third"))
      db.write(() =>
        db.run(
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
           insert into agent_keys select 'random ' || i, 'key', ? from n`,
          maxOwners + 1_000,
          23 * 3_600 + 1
        )
      )
      keys.seen(token("2"))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(count(), maxOwners)
      assert.isFalse(keys.owns(token("2"), "third"))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("gives a tunnel to no key while its owner cannot be read", () =>
    Effect.gen(function* () {
      const written: Array<unknown> = []
      const said: Array<unknown> = []
      const damaged: Database.Database = {
        all: () => {
          throw new Error("database disk image is malformed")
        },
        run: (...statement) => void written.push(statement),
        write: (work) => work(),
        durable: true
      }
      const logger = Logger.make<unknown, void>(({ message }) => void said.push(message))
      yield* Effect.gen(function* () {
        const keys = yield* TunnelOwnership
        assert.isFalse(keys.owns(T, "aa"))
        keys.seen(T)
        yield* Effect.yieldNow
      }).pipe(
        Effect.provide(
          TunnelOwnership.layerNoDeps.pipe(
            Layer.provide(Layer.succeed(HistoryDatabase, { db: damaged })),
            Layer.provideMerge(Logger.layer([logger]))
          )
        )
      )
      assert.deepStrictEqual(written, [])
      assert.deepStrictEqual(said.flat(), Array(2).fill("who owns a tunnel cannot be read; its agents stand by"))
    })
  )
})
