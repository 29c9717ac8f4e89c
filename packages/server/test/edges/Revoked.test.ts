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
})
