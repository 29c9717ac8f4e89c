import { cursorIn } from "@catenet/domain/api/Page"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { EdgeStore, revokedSeconds } from "../../src/edges/EdgeStore.ts"

const tokenOf = (n: number) => n.toString(16).padStart(64, "0")
const database = Layer.unwrap(Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url, maxConnections: 1 })))

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("revoked tokens", (it) => {
  it.effect("are read in pages whose cursor names no token, each once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into revoked_tokens (routing_token, revoked_at)
        select lpad(to_hex(n), 64, '0'), extract(epoch from now())::bigint from generate_series(1, 25) n`
      const { edges } = yield* TestServer.client
      const all: Array<RoutingToken> = []
      let cursor: string | undefined
      do {
        const query = { limit: 10, ...(cursor === undefined ? {} : { cursor }) }
        const [page, { headers }] = yield* edges.revokedTokens({ query, responseMode: "decoded-and-response" })
        assert.isAtMost(page.tokens.length, 10)
        all.push(...page.tokens)
        cursor = cursorIn(headers["link"])
        assert.notMatch(Buffer.from(cursor ?? "", "base64url").toString(), /[0-9a-f]{64}/u)
      } while (cursor !== undefined)
      const whole = yield* edges.revokedTokens({ query: {} })
      assert.deepStrictEqual(all.map(Redacted.value), whole.tokens.map(Redacted.value))
      assert.deepStrictEqual(
        all.map(Redacted.value),
        Array.from({ length: 25 }, (_, n) => tokenOf(n + 1))
      )
    }).pipe(Effect.provide(database))
  )

  it.effect("are forgotten after 90 days, unless something of theirs is left", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* EdgeStore.make
      const now = 2_000_000_000
      yield* sql`delete from revoked_tokens`
      for (const [n, age] of [
        [1, revokedSeconds],
        [2, revokedSeconds - 1],
        [3, revokedSeconds],
        [4, revokedSeconds]
      ] as const) {
        yield* sql`insert into revoked_tokens (routing_token, revoked_at) values (${tokenOf(n)}, ${now - age})`
      }
      yield* sql`insert into outbox (queue, edge, call, created_at, due_at)
        values (${tokenOf(3)}, 'e', '{"_tag":"Revoke"}', ${now}, ${now})`
      yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
        values (${"1".repeat(32)}, 's', 'n', ${tokenOf(4)}, 1)`
      yield* store.pruneRevoked(now)
      const left = yield* sql<{ token: string }>`select routing_token as token from revoked_tokens order by 1`
      assert.deepStrictEqual(
        left.map(({ token }) => token),
        [2, 3, 4].map(tokenOf)
      )
    }).pipe(Effect.provide(database))
  )

  it.effect("and hosts are read by an edge at a cost that does not grow with all rows there are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* EdgeStore.make
      const count = 12_000
      yield* sql`insert into tunnels (id, subject, name, hostname, routing_token, created_at)
        select lpad(to_hex(n), 32, '0'), 's' || n, 'n', case when n % 3 > 0 then 'h' || n || '.example.test' end,
          lpad(to_hex(n + 1000000), 64, '0'), 1 from generate_series(1, ${count}::int) n`
      yield* sql`insert into hosts (hostname, routing_token, edge_id, authorized_at, status)
        select hostname, routing_token, 'primary', 1, 'gruen' from tunnels where hostname is not null`
      yield* sql`insert into agents (tenant, agent, tunnel, pubkey, bound_at)
        select subject, id, id, routing_token, 1 from tunnels`
      yield* sql`insert into revoked_tokens (routing_token, revoked_at)
        select lpad(to_hex(n + 2000000), 64, '0'), 1 from generate_series(1, ${count}::int) n`
      for (const table of ["tunnels", "hosts", "agents", "revoked_tokens"]) yield* sql.unsafe(`analyze ${table}`)
      const limit = 100
      const rowsRead = Effect.map(
        sql<{ rows: number }>`
          select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables`,
        ([read]) => read?.rows ?? assert.fail()
      )
      /** How many rows of all tables one page reads. */
      const readBy = (bare: boolean, place: string) =>
        sql.withTransaction(
          Effect.gen(function* () {
            const before = yield* rowsRead
            const page = yield* store.knownTo({ after: { bare, place }, limit })
            assert.deepStrictEqual([page.length, page[0]?.bare, page[0]?.agent_keys?.length], [limit, bare, 1])
            return (yield* rowsRead) - before
          })
        )
      for (const [bare, place] of [
        [false, "h5"],
        [true, "0".repeat(29)]
      ] as const) {
        assert.isBelow(yield* readBy(bare, place), 12 * limit)
      }
    }).pipe(Effect.provide(database))
  )
})
