/** An edge of the reference kind under this control plane. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Logger, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Comparisons from "../../src/edges/EdgeComparisonLoop.ts"
import { Outbox, deliveryLoop } from "../../src/edges/Outbox.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"
import * as ReferenceEdge from "../harness/ReferenceEdge.ts"

const adminToken = "ad".repeat(32)
const tokenOf = (digit: string) => Schema.decodeSync(RoutingToken)(digit.repeat(64))
const hostOf = (name: string) => Schema.decodeSync(Hostname)(`${name}.example.test`)

const authorize = (host: string, tier: "gelb" | "passthrough" = "gelb") =>
  ({ _tag: "AuthorizeHost", hostname: hostOf(host), tier }) as const

/** A control plane with an edge of its own, and what it logs. */
const withEdge = (compareSeconds = "2") =>
  Effect.gen(function* () {
    const edge = yield* ReferenceEdge.start(adminToken)
    const { url } = yield* TestDatabase
    const logged: Array<string> = []
    const settings = Settings.layer.pipe(
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({
            CT_CP_DATABASE_URL: Redacted.value(url),
            CT_CP_DATABASE_POOL: "3",
            CT_CP_EDGE_ADMIN_URL: edge.url,
            CT_CP_EDGE_ADMIN_TOKEN: adminToken,
            CT_CP_OUTBOX_TICK_SECS: "1",
            CT_CP_EDGE_COMPARE_SECS: compareSeconds
          })
        )
      )
    )
    const context = yield* Layer.build(
      Layer.fresh(
        Layer.mergeAll(deliveryLoop, Comparisons.layer).pipe(
          Layer.provideMerge(Outbox.layer),
          Layer.provideMerge(Database.layerClient),
          Layer.provide(settings),
          Layer.provide(Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))]))
        )
      )
    )
    const give = (token: RoutingToken, ...calls: ReadonlyArray<Parameters<Outbox["Service"]["append"]>[1]>) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const outbox = yield* Outbox
        yield* sql.withTransaction(outbox.append(token, ...calls))
      }).pipe(Effect.provide(context))
    const waiting = SqlClient.SqlClient.use(
      (sql) => sql<{ tag: string; attempts: number; refusal: string | null }>`
      select call ->> '_tag' as tag, attempts, refusal from outbox order by id`
    ).pipe(Effect.provide(context))
    return { edge, give, waiting, logged, context }
  })

const fresh = TestDatabase.layer

layer(fresh, { excludeTestServices: true, timeout: "60 seconds" })("an edge of the reference kind", (it) => {
  it.effect("takes orders in the path, which are tried after a 404 and remembered for it", () =>
    Effect.gen(function* () {
      const { edge, give, logged, waiting } = yield* withEdge()
      const [token, other] = [tokenOf("1"), tokenOf("2")]
      yield* give(token, authorize("one"))
      yield* until(
        Effect.sync(() => edge.hosts.get("one.example.test")),
        (host) => host?.tier === "gelb"
      )
      yield* give(other, authorize("two", "passthrough"))
      yield* give(token, { _tag: "Revoke" })
      yield* until(waiting, (rows) => rows.length === 0)
      assert.isTrue(edge.revoked.has("1".repeat(64)))
      assert.strictEqual(edge.hosts.get("two.example.test")?.tier, "passthrough")
      const byHeader = edge.asked.filter((path) => /^POST \/admin\/(?:authorize-host\/[^/]+|revoke)$/u.test(path))
      assert.deepStrictEqual(byHeader, ["POST /admin/authorize-host/one.example.test"])
      assert.isFalse(logged.some((line) => line.includes("will be retried")))

      // What such an edge has no route for is refused, with its answer, and stands in the way of nothing.
      yield* give(other, { _tag: "SetAgentKeys", keys: [], proof: "optional" }, authorize("three"))
      yield* until(
        Effect.sync(() => edge.hosts.get("three.example.test")),
        (host) => host?.tier === "gelb"
      )
      const [refused] = yield* until(waiting, (rows) => rows.length === 1)
      assert.deepStrictEqual([refused?.tag, refused?.refusal], ["SetAgentKeys", "it answered 404: not found"])
    }).pipe(Effect.scoped)
  )
})

layer(fresh, { excludeTestServices: true, timeout: "60 seconds" })("a revocation", (it) => {
  it.effect("overtakes what an edge refuses, on its way or waiting, and nothing comes after it", () =>
    Effect.gen(function* () {
      const { edge, give, logged, waiting } = yield* withEdge()
      const token = tokenOf("3")
      edge.behave("holds what authorizes")
      yield* give(token, authorize("held"), authorize("later"))
      yield* until(
        Effect.sync(() => edge.asked.filter((path) => path.includes("held.example.test")).length),
        (count) => count > 1
      )
      yield* give(token, { _tag: "Revoke" })
      edge.behave("refuses to authorize")
      yield* until(
        Effect.sync(() => edge.revoked.has("3".repeat(64))),
        (is) => is
      )
      yield* until(waiting, (rows) => rows.length === 0)
      const last = edge.asked.findLast((path) => !path.startsWith("GET"))
      assert.strictEqual(last, `POST /admin/revoke/${"3".repeat(64)}`)

      yield* give(tokenOf("4"), authorize("four"))
      yield* until(
        Effect.sync(() => logged.some((line) => line.includes("answered 503: store is locked"))),
        (is) => is
      )
    }).pipe(Effect.scoped)
  )
})

const [served, ended] = ["5".repeat(64), "6".repeat(64)]

const wanted = SqlClient.SqlClient.use((sql) =>
  Effect.all([
    sql`insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at) values
      ('tier.example.test', ${served}, 'primary', 1, 'gelb', 'queued', 1),
      ('lost.example.test', ${served}, 'primary', 1, 'gruen', null, null) on conflict do nothing`,
    sql`insert into revoked_tokens (routing_token, revoked_at) values (${ended}, 1) on conflict do nothing`
  ])
)

const settled = ({ hosts, revoked }: Effect.Success<ReturnType<typeof ReferenceEdge.start>>) =>
  until(
    Effect.sync(() => [hosts.get("tier.example.test")?.tier, hosts.get("lost.example.test")?.tier, revoked.has(ended)]),
    (found) => found.join() === "gelb,passthrough,true"
  )

layer(fresh, { excludeTestServices: true, timeout: "60 seconds" })("what an edge is to serve", (it) => {
  it.effect("is pushed again on a tick when the edge forgot it", () =>
    Effect.gen(function* () {
      const { context, edge } = yield* withEdge()
      yield* Effect.provide(wanted, context)
      edge.hosts.set("gone.example.test", { token: ended, tier: "gelb" })
      edge.hosts.set("own.example.test", { token: "7".repeat(64), tier: "gelb" })
      yield* settled(edge)
      edge.restart()
      yield* settled(edge)
      // An operator's own host names stay as they are.
      assert.strictEqual(edge.hosts.get("own.example.test")?.tier, "passthrough")
    }).pipe(Effect.scoped)
  )

  it.effect("is pushed again at once when the edge was away, long before the tick", () =>
    Effect.gen(function* () {
      const { context, edge, give, logged } = yield* withEdge("3600")
      yield* Effect.provide(wanted, context)
      edge.behave("away")
      yield* give(tokenOf("8"), authorize("eight"))
      yield* until(
        Effect.sync(() => logged.some((line) => line.includes("did not report which hosts it serves"))),
        (is) => is
      )
      edge.hosts.set("gone.example.test", { token: ended, tier: "gelb" })
      edge.behave("works")
      yield* settled(edge)
    }).pipe(Effect.scoped)
  )
})
