/** The list of an account with 10,000 tunnels: what a page weighs, and how much of the database it reads. */
import { database, server } from "@catenet/testing/server/Accounts"
import { otherReplica, person } from "@catenet/testing/server/channels/Asking"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { gzipSync } from "node:zlib"

const big = person("big")
const tunnels = 10_000
/** In bytes, compressed. */
const budgets = { page: 25_000, css: 12_000, js: 15_000 }

const weightOf = (text: string) => gzipSync(text).byteLength

const fill = SqlClient.SqlClient.use((sql) => {
  const id = sql`md5('t' || n)`
  const token = sql`md5('a' || n) || md5('b' || n)`
  const host = sql`'a-name-that-is-as-long-as-names-usually-are-' || n || '.zone.example'`
  return Effect.all([
    sql`insert into tunnels (id, subject, name, hostname, routing_token, created_at)
      select ${id}, 'big', 'a name that is as long as names usually are ' || n, ${host}, ${token}, n
      from generate_series(1, ${tunnels}::int) n`,
    sql`insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
      select ${host}, ${token}, 'own', n, 'gelb', 'queued', n from generate_series(1, ${tunnels}::int) n`,
    sql`analyze`
  ])
})

/** Rows of tunnels that were read, in order or by an index. */
const read = SqlClient.SqlClient.use((sql) =>
  Effect.map(
    sql<{ readonly rows: number }>`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
      from pg_stat_user_tables where relname = 'tunnels'`,
    ([row]) => row?.rows ?? 0
  )
)

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "the list of 10,000 tunnels",
  (it) => {
    it.effect(
      "weighs less than 25 kB compressed, its sheet 12 and its script 15, and reads what it shows and not all that there is",
      () =>
        Effect.gen(function* () {
          yield* fill
          const own = yield* headersOf(big)
          const get = (path: string, language: string) =>
            Effect.flatMap(
              TestServer.raw(path, { headers: { accept: "text/html", "accept-language": language, ...own } }),
              (response) => Effect.promise(() => response.text())
            )
          for (const language of ["en", "de"]) {
            const page = yield* get("/portal/tunnels", language)
            assert.strictEqual(page.split("<tr>").length, 52, "50 tunnels and the head")
            assert.isBelow(weightOf(page), budgets.page, language)
            for (const [, path = "", kind] of page.matchAll(/(?:href|src)="(\/portal\/static\/[^"]+\.(css|js))"/gu))
              assert.isBelow(weightOf(yield* get(path, language)), budgets[kind === "css" ? "css" : "js"], path)
          }
          const before = yield* read
          // A connection reports what it has read at its end, if not before.
          yield* Effect.scoped(
            Effect.flatMap(otherReplica, (there) =>
              there(
                Effect.gen(function* () {
                  const first = yield* get("/portal/tunnels", "en")
                  const next = /rel="next" href="([^"]+)"/u.exec(first)?.[1] ?? ""
                  assert.include(yield* get(next, "en"), "-usually-are-51.zone.example")
                })
              )
            )
          )
          assert.isBelow((yield* read) - before, 2_000)
        })
    )
  }
)
