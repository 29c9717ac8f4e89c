/** A tunnel that is down is noticed without an alert, from rounds over all tunnels that any replica makes. */
import { until } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { headersOf } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { english } from "../../../src/portal/texts/English.ts"
import { FactsEdge } from "../records/FactsEdge.ts"
import { account, server, tunnel, variables } from "../records/FactsServer.ts"

const ticking = { CT_CP_ALERT_TICK_SECS: "1" }

const noticed = (sub: string) =>
  Effect.gen(function* () {
    const headers = { accept: "text/html", ...(yield* headersOf(person(sub))) }
    const response = yield* TestServer.raw("/portal/notices", { headers })
    const text = yield* Effect.promise(() => response.text())
    return {
      count: Number(/class="count"[^>]*>(\d+)</u.exec(text)?.[1] ?? 0),
      isDown: text.includes(english.noticeDown)
    }
  })

const rowOf = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ isUp: boolean; since: number }>`select is_up, since from tunnel_watches where tunnel_id = ${id}`
  ).pipe(
    Effect.map(([row]) => row),
    Effect.provide(Layer.fresh(database)),
    Effect.orDie
  )
/** The outage is as long ago as it would have been after waiting. */
const ago = (id: string, seconds: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update tunnel_watches
      set since = extract(epoch from now())::bigint - ${seconds}::bigint where tunnel_id = ${id}`
  ).pipe(Effect.provide(Layer.fresh(database)), Effect.orDie)
const isUp = (id: string, wanted: boolean) => until(rowOf(id), (row) => row?.isUp === wanted)
/** Two rounds more. */
const rounds = Effect.gen(function* () {
  const due = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ dueAt: number }>`select due_at from tunnel_watch_round`
  ).pipe(
    Effect.map(([row]) => row?.dueAt ?? 0),
    Effect.provide(Layer.fresh(database)),
    Effect.orDie
  )
  const before = yield* due
  yield* until(due, (now) => now >= before + 3)
})

layer(server(ticking), { excludeTestServices: true, timeout: "60 seconds" })("a tunnel without an alert", (it) => {
  it.effect("is noticed once it is down for five minutes, and no more once it is back", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { issuer } = yield* TestIssuer
      const settings = { ...variables, ...ticking, CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: edge.url }
      yield* Layer.build(TestServer.replica(settings))
      const { id, token } = yield* tunnel("watched", "cam")
      const never = yield* tunnel("watched", "never")
      yield* rounds
      assert.isUndefined(yield* rowOf(never.id), "what was never reached is not down")

      yield* edge.tunnel(token, { connected: true })
      yield* isUp(id, true)
      const reach = { since: 1000, origin: "127.0.0.1:1", fault: "refused", http_status: null } as const
      yield* edge.tunnel(token, { connected: true, reach: { state: "origin_silent", ...reach } })
      yield* isUp(id, false)
      assert.deepStrictEqual(yield* noticed("watched"), { count: 0, isDown: false }, "an agent that starts anew")
      yield* ago(id, 290)
      assert.deepStrictEqual(yield* noticed("watched"), { count: 0, isDown: false })
      yield* ago(id, 301)
      assert.deepStrictEqual(yield* noticed("watched"), { count: 1, isDown: true })
      assert.deepStrictEqual(yield* noticed("watched-other"), { count: 0, isDown: false })

      yield* edge.away(true)
      yield* rounds
      assert.isFalse((yield* rowOf(id))?.isUp, "a silent edge changes nothing")
      yield* edge.away(false)

      const { tunnelControls } = yield* account("watched")
      const payload = { webhook_url: "https://a.example/", threshold_minutes: 60 }
      yield* tunnelControls.saveAlert({ params: { id }, payload })
      assert.deepStrictEqual(yield* noticed("watched"), { count: 0, isDown: false }, "its alert says when it is down")
      yield* tunnelControls.removeAlert({ params: { id } })
      assert.deepStrictEqual(yield* noticed("watched"), { count: 1, isDown: true })

      yield* edge.tunnel(token, { connected: true, reach: { state: "up", ...reach, fault: null } })
      yield* isUp(id, true)
      assert.deepStrictEqual(yield* noticed("watched"), { count: 0, isDown: false })

      yield* ask(person("watched"), `/me/tunnels/${id}`, undefined, { method: "DELETE" })
      assert.isUndefined(yield* rowOf(id))
    }).pipe(Effect.scoped)
  )
})
