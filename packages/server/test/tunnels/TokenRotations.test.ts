import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { EdgeId } from "@catenet/domain/edges/EdgeNode"
import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hashToken } from "../../src/runtime/TokenSecrets.ts"
import { blocked } from "../harness/Blocked.ts"

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { url } = yield* RecordingEdge
    return TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: url })
  })
).pipe(Layer.provideMerge(Layer.merge(TestIssuer.layer, RecordingEdge.layer)))

const window = new AccessPolicy({ expires_at: UnixSeconds.make(4_000_000_000), schedule: null })

const made = Effect.fnUntraced(function* (sub: string) {
  const owner = yield* TestServer.clientAs({ bearer: yield* bearerOf(sub) })
  const hostname = Schema.decodeSync(Hostname)(`${sub}.example.test`)
  const { provisioning } = yield* TestServer.client
  const { routing_token: old } = yield* provisioning.provisionTunnel({
    headers: {},
    payload: { subject: Subject.make(sub), name: Schema.decodeSync(TunnelName)(sub), hostname }
  })
  const [tunnel] = yield* owner.tunnels.list({ query: {} })
  const params = { id: tunnel?.id ?? assert.fail() }
  return { hostname, old, owner, params, rotate: owner.tunnels.rotateToken({ headers: {}, params }) }
})

const known = Effect.gen(function* () {
  const { edges } = yield* TestServer.client
  return yield* edges.rehydrate({ params: { edge_id: EdgeId.make("primary") }, query: {} })
})

const otherDatabase = Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url }))

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a new routing token", (it) => {
  it.effect("takes over host, tier and window, keeps the name of the records, and revokes the old one", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const { hostname, old, owner, params, rotate } = yield* made("ada")
      yield* owner.tunnelControls.setAccess({ params, payload: window })
      const before = (yield* known).find((entry) => entry.hostname === hostname)
      const { routing_token: fresh } = yield* rotate
      assert.notStrictEqual(Redacted.value(fresh), Redacted.value(old))
      const after = (yield* known).find((entry) => entry.hostname === hostname)
      assert.deepStrictEqual({ ...after }, { ...before, token: fresh, records_name: hashToken(old) })
      assert.strictEqual(after?.tier, "gelb")
      const { edges } = yield* TestServer.client
      const revoked = (yield* edges.revokedTokens({ query: {} })).tokens.map(Redacted.value)
      assert.include(revoked, Redacted.value(old))
      assert.notInclude(revoked, Redacted.value(fresh))

      const orders = yield* edge.about(Redacted.value(fresh), 3)
      assert.deepStrictEqual(
        orders.map(({ path }) => path),
        [
          `/admin/authorize-host/${hostname}?channel_tier=gelb`,
          "/internal/tunnel/access-policy",
          "/internal/tunnel/agent-keys?proof=optional"
        ]
      )
      const ended = (yield* edge.about(Redacted.value(old), 3)).at(-1)
      assert.deepStrictEqual([ended?.path, ended?.successor], ["/admin/revoke", Redacted.value(fresh)])
      const { routing_token: shown } = yield* owner.tunnels.install({ headers: {}, params })
      assert.strictEqual(Redacted.value(shown), Redacted.value(fresh))
    })
  )

  it.effect("is made once for one key, and by the owner only", () =>
    Effect.gen(function* () {
      const { owner, params } = yield* made("bo")
      const repeated = { headers: { "idempotency-key": "k" }, params }
      const tokens = yield* Effect.all([owner.tunnels.rotateToken(repeated), owner.tunnels.rotateToken(repeated)], {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(tokens.map(({ routing_token }) => Redacted.value(routing_token))).size, 1)
      const guest = yield* TestServer.clientAs({ bearer: yield* bearerOf("bo-guest") })
      yield* owner.tunnels.grant({ params, payload: { grantee: Subject.make("bo-guest") } })
      const refused = yield* Effect.flip(guest.tunnels.rotateToken({ headers: {}, params }))
      assert.strictEqual(refused._tag, "TunnelNotFound")
    })
  )

  it.effect("is one of many that are asked for at once; all others are revoked, and the records keep their name", () =>
    Effect.gen(function* () {
      const { hostname, old, rotate } = yield* made("cy")
      const rotated = yield* Effect.all(
        Array.from({ length: 4 }, () => rotate),
        { concurrency: "unbounded" }
      )
      const tokens = [old, ...rotated.map(({ routing_token }) => routing_token)].map(Redacted.value)
      const mine = (yield* known).find((entry) => entry.hostname === hostname) ?? assert.fail()
      const { edges } = yield* TestServer.client
      const revoked = new Set((yield* edges.revokedTokens({ query: {} })).tokens.map(Redacted.value))
      assert.deepStrictEqual(
        tokens.filter((token) => !revoked.has(token)),
        [Redacted.value(mine.token)]
      )
      assert.strictEqual(mine.records_name, hashToken(old))
    })
  )

  it.effect("is made before or after what else happens to the tunnel: its end, its window, an enrollment's keys", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const { hostname, owner, params, rotate } = yield* made("di")
      const [fresh] = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`select 1 from tunnels where id = ${params.id} for update`
            const rotating = yield* Effect.forkChild(rotate)
            yield* blocked
            const setting = yield* Effect.forkChild(owner.tunnelControls.setAccess({ params, payload: window }))
            return [rotating, setting] as const
          })
        )
      }).pipe(
        Effect.provide(yield* otherDatabase),
        Effect.flatMap(([rotating, setting]) => Effect.all([Fiber.join(rotating), Fiber.join(setting)]))
      )
      const token = Redacted.value(fresh.routing_token)
      const orders = yield* edge.about(token, 3)
      assert.include(
        orders.map(({ path }) => path),
        "/internal/tunnel/access-policy"
      )

      const [rotated, removed] = yield* Effect.all(
        [Effect.result(rotate), Effect.result(owner.tunnels.remove({ params }))],
        { concurrency: "unbounded" }
      )
      assert.isTrue(Result.isSuccess(removed))
      if (Result.isFailure(rotated)) assert.strictEqual(rotated.failure._tag, "TunnelNotFound")
      assert.isUndefined((yield* known).find((entry) => entry.hostname === hostname))
      const { edges } = yield* TestServer.client
      const revoked = new Set((yield* edges.revokedTokens({ query: {} })).tokens.map(Redacted.value))
      if (Result.isSuccess(rotated)) assert.isTrue(revoked.has(Redacted.value(rotated.success.routing_token)))
      assert.isTrue(revoked.has(token))
    })
  )

  it.effect("reaches an edge that was away when it was made", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const { old, rotate } = yield* made("ed")
      yield* edge.behave("away")
      const { routing_token: fresh } = yield* rotate
      yield* edge.behave(200)
      yield* edge.about(Redacted.value(fresh), 2)
      const orders = yield* edge.about(Redacted.value(old), 2)
      assert.strictEqual(orders.at(-1)?.path, "/admin/revoke")
    })
  )
})
