/** Many tunnels of an account: each edge is asked once of each kind, and an edge of before tunnel by tunnel. */
import { database } from "@catenet/testing/server/Accounts"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { FactsEdge } from "./FactsEdge.ts"
import { account, server } from "./FactsServer.ts"

const day = 86_400
const zero = { start: 0, uptime_pct: null, visitors: null, bytes_in: null, bytes_out: null }

/** An account with that many tunnels, each of which carried as many bytes as its number says; the first two have a bridge. */
const furnished = (sub: string, count: number) =>
  Effect.gen(function* () {
    const edge = yield* FactsEdge
    const sql = yield* SqlClient.SqlClient
    yield* account(sub)
    const id = sql`md5(${sub} || n)`
    const token = sql`md5(${sub} || 'a' || n) || md5(${sub} || 'b' || n)`
    yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
      select ${id}, ${sub}, 't' || n, ${token}, n from generate_series(1, ${count}::int) n`
    yield* sql`insert into bridges (tunnel_id, channel, grant_hex)
      select ${id}, ${token}, repeat('a', 278) from generate_series(1, least(2, ${count}::int)) n`
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const tokens = yield* sql<{
      token: string
      n: number
    }>`select n, ${token} as token from generate_series(1, ${count}::int) n`
    for (const { n, token: each } of tokens) {
      const sums = { sessions: 1, visitors: n, bytes_in: n, bytes_out: 2 * n }
      yield* edge.tunnel(each, {
        connected: true,
        sessions: [{ connected_at: now - day, disconnected_at: null, ...sums }],
        uptime: { h24: 100, d7: 50, d30: 25 },
        figures: { ...sums, longest_outage_secs: 0, days: [{ ...zero, start: now - (now % day), bytes_in: n }] }
      })
    }
    yield* edge.paths
  })

const page = (sub: string, path: string) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, { headers: yield* headersOf({ session: sub, email: null }) })
    return yield* Effect.promise(() => response.text())
  })

/** The kinds of questions, with how often each was asked; orders and health are asked for on their own time. */
const questions = Effect.gen(function* () {
  const edge = yield* FactsEdge
  const asked = (yield* edge.paths).filter((path) => /history|presence|status|sums/u.test(path))
  return Object.fromEntries(Array.from(Map.groupBy(asked, String), ([path, each]) => [path, each.length]))
})

const holders = { "/internal/channel/presence/bulk": 1 }
const once = { "/admin/tunnel-status/bulk": 1, "/internal/tunnel/history/bulk": 1 }

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("an edge", (it) => {
  it.effect("is asked once about all tunnels of the fleet and of usage", () =>
    Effect.gen(function* () {
      const count = 20
      yield* furnished("many", count)
      const { tunnelRecords } = yield* account("many")
      const usage = yield* tunnelRecords.usage({ query: {} })
      assert.deepStrictEqual(yield* questions, once)
      assert.deepStrictEqual(
        usage.map(({ bytes_in_30d, tunnel: name }) => `${name} ${bytes_in_30d}`).toSorted(),
        Array.from({ length: count }, (_, n) => `t${n + 1} ${n + 1}`).toSorted()
      )
      assert.include(yield* page("many", "/portal/usage"), ">210 B<")
      assert.deepStrictEqual(yield* questions, once)
      yield* page("many", "/portal/fleet")
      assert.deepStrictEqual(yield* questions, { ...once, ...holders })
      const fleet = yield* tunnelRecords.fleet({ query: {} })
      assert.deepStrictEqual([...new Set(fleet.map(({ uptime_7d_pct }) => uptime_7d_pct))], [50])
      assert.strictEqual(fleet.filter(({ bridge_last_seen_secs_ago }) => bridge_last_seen_secs_ago === 7).length, 2)
      assert.deepStrictEqual(yield* questions, { ...once, ...holders })
    }).pipe(Effect.provide(database))
  )

  it.effect("of before is asked tunnel by tunnel, and answers the same", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      yield* furnished("older", 3)
      const { tunnelRecords } = yield* account("older")
      const asked = yield* tunnelRecords.usage({ query: {} })
      yield* edge.paths
      yield* edge.before(true)
      assert.deepStrictEqual(yield* tunnelRecords.usage({ query: {} }), asked)
      assert.deepStrictEqual(yield* questions, { ...once, "/internal/tunnel/history": 3 })
      const fleet = yield* tunnelRecords.fleet({ query: {} })
      assert.strictEqual(fleet.filter(({ bridge_last_seen_secs_ago }) => bridge_last_seen_secs_ago === 7).length, 2)
      const paths = Object.values(yield* questions)
      assert.deepStrictEqual(paths.toSorted(), [1, 1, 1, 1, 1, 3])
      yield* edge.before(false)
    }).pipe(Effect.provide(database))
  )

  it.effect("is asked in parts where an account has more tunnels than one question is for", () =>
    Effect.gen(function* () {
      yield* furnished("most", 257)
      const { tunnelRecords } = yield* account("most")
      const usage = yield* tunnelRecords.usage({ query: {} })
      assert.strictEqual(usage.filter(({ bytes_in_30d }) => bytes_in_30d !== null).length, usage.length)
      assert.include(yield* page("most", "/portal/usage"), ">32.4 KiB<")
      assert.deepStrictEqual((yield* questions)["/internal/tunnel/history/bulk"], 4)
    }).pipe(Effect.provide(database))
  )
})
