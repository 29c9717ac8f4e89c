import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Outbox } from "../../src/edges/Outbox.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"

const seed = Redacted.make(new Uint8Array(32).fill(7))

/** A heartbeat as our edge sends it; answers the status and the epoch. */
const beat = (id: string, adminUrl: string, rebuilt: string | null, signed = adminUrl) =>
  Effect.map(
    TestServer.raw("/internal/edges/heartbeat", {
      method: "POST",
      headers: { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken },
      body: JSON.stringify({
        id,
        peer_addr: "a:1",
        pubkey: Hex.encode(native.ed25519.publicKey(Redacted.value(seed))),
        signature: Hex.encode(EdgeHeartbeat.sign(native, seed, { id, peerAddress: "a:1" })),
        rebuilt,
        admin_url: adminUrl,
        admin_signature: Hex.encode(EdgeHeartbeat.signAdmin(native, seed, { id, adminUrl: signed }))
      })
    }),
    (response) => ({ status: response.status, epoch: response.headers.get("x-ct-edge-epoch") })
  )

const inDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(Effect.flatMap(SqlClient.SqlClient, use), PgClient.layer({ url, maxConnections: 1 }))
  )

/** A replica's outbox without its worker, over its own connections. */
const writing = Layer.fresh(
  Outbox.layer.pipe(
    Layer.provideMerge(Database.layerClient),
    Layer.provide(
      Layer.unwrap(
        Effect.map(TestDatabase, ({ url }) =>
          Settings.layer.pipe(
            Layer.provide(
              ConfigProvider.layer(
                ConfigProvider.fromUnknown({
                  CT_CP_DATABASE_URL: Redacted.value(url),
                  CT_CP_EDGE_ADMIN_TOKEN: TestServer.adminToken
                })
              )
            )
          )
        )
      )
    )
  )
)

const committed = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(use))

const server = TestServer.layer({ CT_CP_OUTBOX_TICK_SECS: "1" }).pipe(Layer.provideMerge(RecordingEdge.layer))

const waiting = (edge: string) =>
  Effect.map(
    inDatabase((sql) => sql<{ count: number }>`select count(*)::int as count from outbox where edge = ${edge}`),
    ([row]) => row?.count
  )

/** Orders are written by a tunnel that a subject makes and an operator's word about it. */
const order = (hostname: string) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw("/admin/provision-tunnel", {
      method: "POST",
      headers: { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken },
      body: JSON.stringify({ subject: "s", name: "n", hostname })
    })
    return (yield* Effect.promise(() => response.json())) as { readonly routing_token: string }
  })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("orders of several edges", (it) => {
  it.effect("go to an edge that announced its address, from the heartbeat on and no longer than it lives", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      yield* order("before.example.test")
      const first = yield* beat("announced", edge.url, null)
      assert.strictEqual(first.status, 200)
      assert.match(first.epoch ?? "", /^[0-9a-f-]{36}$/u)
      assert.deepStrictEqual(
        yield* beat("announced", edge.url, first.epoch),
        first,
        "an edge that goes on stays in its epoch"
      )
      const { routing_token } = yield* order("during.example.test")
      const [taken] = yield* edge.about(routing_token, 1)
      assert.strictEqual(taken?.path, "/admin/authorize-host/during.example.test?channel_tier=gelb")
      assert.isFalse(edge.orders.some(({ path }) => path.includes("before.example.test")))

      yield* inDatabase((sql) => sql`update edge_addresses set expires_at = 1 where edge_id = 'announced'`)
      yield* order("away.example.test")
      assert.strictEqual(yield* waiting("announced"), 0)
      const back = yield* beat("announced", edge.url, first.epoch)
      assert.notStrictEqual(back.epoch, first.epoch, "an edge that missed orders is ordered to restore everything")
      const restarted = yield* beat("announced", edge.url, null)
      assert.notStrictEqual(restarted.epoch, back.epoch)
    })
  )

  it.effect("an address is believed to the key of the edge alone", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      assert.strictEqual((yield* beat("proved", edge.url, null, "http://other.example")).status, 403)
      for (const url of [
        "http://user@edge.example",
        "ftp://edge.example",
        "http://edge.example/?a",
        "http://edge.example/#a"
      ]) {
        assert.strictEqual((yield* beat("proved", url, null)).status, 400, url)
      }
      const unsigned = yield* TestServer.raw("/internal/edges/heartbeat", {
        method: "POST",
        headers: { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken },
        body: JSON.stringify({ id: "proved", peer_addr: "a:1", rebuilt: null, admin_url: edge.url })
      })
      assert.strictEqual(unsigned.status, 400)
      const [known] = yield* inDatabase(
        (sql) => sql`select count(*)::int as n from edge_addresses where edge_id = 'proved'`
      )
      assert.deepStrictEqual<unknown>(known, { n: 0 })
    })
  )

  it.effect("an edge that comes while an order is being written waits for it, and restores it", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const token = Schema.decodeSync(RoutingToken)("6".repeat(64))
      const written = yield* Deferred.make<void>()
      const commit = yield* Deferred.make<void>()
      const answered = yield* Effect.gen(function* () {
        const outbox = yield* Outbox
        const writer = yield* committed(
          outbox
            .append(token, { _tag: "Revoke" })
            .pipe(Effect.andThen(Deferred.succeed(written, undefined)), Effect.andThen(Deferred.await(commit)))
        ).pipe(Effect.forkChild)
        yield* Deferred.await(written)
        const coming = yield* Effect.forkChild(beat("coming", edge.url, null))
        yield* Effect.sleep("300 millis")
        const early = coming.pollUnsafe()
        yield* Deferred.succeed(commit, undefined)
        yield* Fiber.join(writer)
        yield* Fiber.join(coming)
        return early
      }).pipe(Effect.provide(writing))
      assert.isUndefined(answered, "the heartbeat was answered while an order for the edges was not committed")
    })
  )

  it.effect("what waits for an edge that takes nothing is bounded, and a revocation waits behind nothing", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      yield* edge.behave("away")
      yield* beat("stuck", edge.url, null)
      yield* Effect.gen(function* () {
        const outbox = yield* Outbox
        const token = Schema.decodeSync(RoutingToken)("5".repeat(64))
        const give = (call: Parameters<typeof outbox.append>[1]) => committed(outbox.append(token, call))
        yield* give({ _tag: "SetAgentKeys", keys: [], proof: "optional" })
        yield* until(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`select 1 from outbox where edge = 'stuck' and attempts > 0 and leased_until = 0`
          ),
          (rows) => rows.length > 0
        )
        for (let n = 0; n < 30; n++) yield* give({ _tag: "SetAccessPolicy", policy: null })
        assert.isAtMost((yield* waiting("stuck")) ?? 0, 4)
        yield* give({ _tag: "Revoke" })
        const left = yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ tag: string; leased: boolean }>`
            select call->>'_tag' as tag, leased_until > 0 as leased from outbox where edge = 'stuck'`
        )
        assert.isTrue(left.some(({ tag }) => tag === "Revoke"))
        assert.deepStrictEqual(
          left.filter(({ leased, tag }) => tag !== "Revoke" && !leased),
          []
        )
      }).pipe(Effect.provide(writing))
      yield* edge.behave(200)
    })
  )
})
