import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, References, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient } from "effect/sql"
import { EdgeFacts } from "../../src/edges/EdgeFacts.ts"
import { LiveEdges } from "../../src/edges/LiveEdges.ts"
import { Outbox, deliveryLoop } from "../../src/edges/Outbox.ts"
import { ServiceAccounts } from "../../src/identity/ServiceAccounts.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"
import { Sealing } from "../../src/store/Sealing.ts"
import { AlertDeliveries } from "../../src/tunnels/alerts/AlertDeliveries.ts"
import { Outages } from "../../src/tunnels/alerts/Outages.ts"

const tokenOf = (digit: string) => Schema.decodeSync(RoutingToken)(digit.repeat(64))

const otherSealing = Sealing.layerOf(Redacted.make(new Uint8Array(32).fill(0x5f)))

/** A replica that may reach the edge, or one that lacks every key to the outside. */
const replica = (kind: "able" | "incapable" | "other seal key") =>
  Layer.fresh(
    Layer.mergeAll(deliveryLoop, Outages.layer, ServiceAccounts.layer).pipe(
      Layer.provideMerge(Layer.mergeAll(AlertDeliveries.layer, EdgeFacts.layer, LiveEdges.layer, Outbox.layer)),
      Layer.provide(kind === "other seal key" ? otherSealing : TestServer.sealing),
      Layer.provide(SecureRandom.layerWebCrypto),
      Layer.provideMerge(Database.layerClient),
      Layer.provide(
        Layer.unwrap(
          Effect.gen(function* () {
            const { url } = yield* TestDatabase
            const edge = yield* RecordingEdge
            const variables = {
              CT_CP_DATABASE_URL: Redacted.value(url),
              CT_CP_OUTBOX_TICK_SECS: "1",
              ...(kind !== "incapable"
                ? { CT_CP_EDGE_ADMIN_URL: edge.url, CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32) }
                : {})
            }
            return Settings.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))
          })
        )
      )
    )
  ).pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal")))

const numbered = (n: number) =>
  ({
    _tag: "SetAccessPolicy",
    policy: new AccessPolicy({ expires_at: UnixSeconds.make(n), schedule: null })
  }) as const

const server = Layer.mergeAll(TestDatabase.layer, RecordingEdge.layer)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a replica that cannot do a kind of work", (it) => {
  it.effect("takes no orders for edges without an edge token, and still writes them for the others", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const able = yield* Layer.build(replica("able"))
      const incapable = yield* Effect.all([Layer.build(replica("incapable")), Layer.build(replica("incapable"))])
      const token = tokenOf("7")
      for (let n = 0; n < 18; n++) {
        const context = [able, ...incapable][n % 3]!
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const outbox = yield* Outbox
          yield* sql.withTransaction(outbox.append(token, numbered(n)))
        }).pipe(Effect.provide(context))
      }
      const orders = yield* edge.about(Redacted.value(token), 18)
      assert.deepStrictEqual(
        orders.map(({ body }) => JSON.parse(body).expires_at),
        Array.from({ length: 18 }, (_, n) => n)
      )
    })
  )

  it.effect("takes no outage check without an edge token, and no client's end without an administrator", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(replica("incapable"))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { lookAtDue } = yield* Outages
        const { prune } = yield* ServiceAccounts
        yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
          values (${"1".repeat(32)}, 's', 'n', ${"8".repeat(64)}, 1)`
        yield* sql`insert into alerts (tunnel_id, webhook_url, threshold_seconds, secret, state, since, due_at)
          values (${"1".repeat(32)}, 'https://hooks.example/x', 60, ${"9".repeat(64)}, 'unknown', 1, 1)`
        yield* sql`insert into service_accounts (owner, client_id, name, created_at, state, due_at)
          values ('s', ${`sa-${"2".repeat(32)}`}, 'x', 1, 'releasing', 1)`
        yield* lookAtDue
        assert.strictEqual(yield* prune(), 0)
        const due =
          yield* sql`select (select due_at from alerts) as alert, (select due_at from service_accounts) as account`
        assert.deepStrictEqual<unknown>(due, [{ alert: 1, account: 1 }])
      }).pipe(Effect.provide(context))
    })
  )

  it.effect("takes no look and no delivery whose secret it cannot open", () =>
    Effect.gen(function* () {
      const [withKey, without] = yield* Effect.all([
        Layer.build(replica("able")),
        Layer.build(replica("other seal key"))
      ])
      const id = "3".repeat(32)
      const took = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { seal } = yield* Sealing
        yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
          values (${id}, 's', 'sealed', ${"a".repeat(64)}, 1)`
        yield* sql`insert into alerts (tunnel_id, webhook_url, threshold_seconds, secret, state, since, due_at) values
          (${id}, 'https://hooks.example/x', 60, ${seal("alerts.secret", "9".repeat(64))}, 'unknown', 1, 1)`
        yield* sql`insert into alert_deliveries (message_id, subject, tunnel_id, event, since, threshold_seconds, at, status, detail)
          values ('m', 's', ${id}, 'tunnel.test', 1, 60, 1, 'pending', '')`
        const due = sql<{ due: number }>`select due_at as due from alerts where tunnel_id = ${id}`
        yield* Effect.provide(
          Effect.flatMap(Outages, ({ lookAtDue }) => lookAtDue),
          without
        )
        const leased = yield* Effect.provide(
          Effect.flatMap(AlertDeliveries, ({ lease }) => lease(9)),
          without
        )
        assert.deepStrictEqual([leased.length, (yield* due)[0]?.due], [0, 1])
        return yield* Effect.flatMap(AlertDeliveries, ({ lease }) => lease(9))
      }).pipe(Effect.provide(withKey), Effect.provide(TestServer.sealing))
      assert.deepStrictEqual(
        took.map(({ messageId }) => messageId),
        ["m"]
      )
    })
  )
})
