import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { EdgeId } from "@catenet/domain/edges/EdgeNode"
import { AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Subject } from "@catenet/domain/values/Ids"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import type { JoinToken } from "@catenet/domain/values/Tokens"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { tokenBytes } from "../../src/runtime/TokenSecrets.ts"
import { blocked } from "../harness/Blocked.ts"

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { url } = yield* RecordingEdge
    return TestServer.layer({
      CT_OIDC_ISSUER: issuer,
      CT_CP_HOSTNAME_ZONE: "zone.example",
      CT_CP_EDGE_ADMIN_URL: url
    })
  })
).pipe(Layer.provideMerge(Layer.merge(TestIssuer.layer, RecordingEdge.layer)))

const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const keyOf = (byte: number) =>
  Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(byte)))))

/** An agent enrolls with the key of this byte. */
const enroll = Effect.fnUntraced(function* (token: JoinToken, agent: string, byte: number) {
  const { enrollment } = yield* TestServer.client
  const proof = Schema.decodeSync(Signature)(Hex.encode(Proof.prove(native, seedOf(byte), tokenBytes(token))))
  return yield* enrollment.redeem({ payload: { token, agent: AgentId.make(agent), pubkey: keyOf(byte), proof } })
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the keys that may serve a tunnel", (it) => {
  it.effect(
    "are those enrolled for it and for any tunnel of its owner; the edge learns each change and all at boot",
    () =>
      Effect.gen(function* () {
        const edge = yield* RecordingEdge
        const ada = yield* TestServer.clientAs({ bearer: yield* bearerOf("ada") })
        const { edges, enrollment } = yield* TestServer.client
        const create = (name: string) =>
          ada.tunnels.create({ headers: {}, payload: { name: Schema.decodeSync(TunnelName)(name) } })
        const params = { id: (yield* create("camera")).id }
        const camera = yield* ada.tunnels.install({ headers: {}, params })
        const spare = yield* ada.tunnels.install({ headers: {}, params })
        const printer = yield* ada.tunnels.install({ headers: {}, params: { id: (yield* create("printer")).id } })
        const ordered = (count: number) =>
          Effect.map(edge.about(Redacted.value(camera.routing_token), count), (orders) =>
            orders.flatMap(({ body, path }) =>
              path.startsWith("/internal/tunnel/agent-keys?") ? [JSON.parse(body)] : []
            )
          )
        const sorted = (...bytes: ReadonlyArray<number>) => bytes.map((byte): string => keyOf(byte)).sort()

        yield* enroll(camera.join_token, "a", 1)
        yield* enroll(spare.join_token, "b", 2)
        assert.deepStrictEqual(yield* ordered(3), [sorted(1), sorted(1, 2)])
        const again = yield* ada.tunnels.install({ headers: {}, params })
        yield* enroll(again.join_token, "b", 3)
        const { token } = yield* enrollment.issue({ headers: {}, payload: { tenant: Tenant.make("ada") } })
        yield* enroll(token, "c", 4)
        assert.deepStrictEqual((yield* ordered(5)).slice(2), [sorted(1, 3), sorted(1, 3, 4)])

        const known = yield* edges.rehydrate({ params: { edge_id: EdgeId.make("primary") }, query: {} })
        const keys = new Map(known.map((entry) => [Redacted.value(entry.token), entry.agent_keys]))
        assert.deepStrictEqual<ReadonlyArray<string> | undefined>(
          keys.get(Redacted.value(camera.routing_token)),
          sorted(1, 3, 4)
        )
        assert.deepStrictEqual(keys.get(Redacted.value(printer.routing_token)), [])
      })
  )

  it.effect("are not brought by a join token of a grantee once the grant is gone, unless it was redeemed before", () =>
    Effect.gen(function* () {
      const owner = yield* TestServer.clientAs({ bearer: yield* bearerOf("owner") })
      const grantee = yield* TestServer.clientAs({ bearer: yield* bearerOf("grantee") })
      const { id } = yield* owner.tunnels.create({
        headers: {},
        payload: { name: Schema.decodeSync(TunnelName)("shared") }
      })
      const install = (of: typeof owner) => of.tunnels.install({ headers: {}, params: { id } })
      const granted = { params: { id }, payload: { grantee: Subject.make("grantee") } }
      const withdrawn = { params: { id, grantee: Subject.make("grantee") } }

      yield* owner.tunnels.grant(granted)
      const redeemed = yield* install(grantee)
      const outstanding = yield* install(grantee)
      const own = yield* install(owner)
      yield* enroll(redeemed.join_token, "a", 1)
      yield* owner.tunnels.ungrant(withdrawn)
      assert.strictEqual((yield* Effect.flip(install(grantee)))._tag, "TunnelNotFound")
      assert.strictEqual((yield* Effect.flip(enroll(outstanding.join_token, "b", 2)))._tag, "JoinTokenUnknown")
      assert.strictEqual((yield* Effect.flip(enroll(redeemed.join_token, "b", 2)))._tag, "JoinTokenSpent")
      assert.strictEqual((yield* enroll(own.join_token, "c", 3)).tenant, "owner")
    })
  )

  it.effect("are not brought by a join token that a grantee asked for while the grant was taken away", () =>
    Effect.gen(function* () {
      const owner = yield* TestServer.clientAs({ bearer: yield* bearerOf("hasty-owner") })
      const grantee = yield* TestServer.clientAs({ bearer: yield* bearerOf("hasty-grantee") })
      const { id } = yield* owner.tunnels.create({
        headers: {},
        payload: { name: Schema.decodeSync(TunnelName)("shared") }
      })
      yield* owner.tunnels.grant({ params: { id }, payload: { grantee: Subject.make("hasty-grantee") } })
      const { url } = yield* TestDatabase
      const asking = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`delete from tunnel_grants where tunnel_id = ${id}`
            const asking = yield* Effect.forkChild(grantee.tunnels.install({ headers: {}, params: { id } }))
            yield* blocked
            return asking
          })
        )
      }).pipe(Effect.provide(PgClient.layer({ url })))
      assert.strictEqual((yield* Effect.flip(Fiber.join(asking)))._tag, "TunnelNotFound")
    })
  )

  it.effect("are all in the last order of agents that enrolled at the same time", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const ada = yield* TestServer.clientAs({ bearer: yield* bearerOf("crowd") })
      const name = Schema.decodeSync(TunnelName)("crowded")
      const { id } = yield* ada.tunnels.create({ headers: {}, payload: { name } })
      const bytes = [11, 12, 13, 14, 15, 16]
      const installs = yield* Effect.forEach(bytes, () => ada.tunnels.install({ headers: {}, params: { id } }))
      yield* Effect.forEach(bytes, (byte, n) => enroll(installs[n]!.join_token, `agent-${byte}`, byte), {
        concurrency: "unbounded"
      })
      const orders = yield* edge.about(Redacted.value(installs[0]!.routing_token), 1 + bytes.length)
      const keys = orders.flatMap(({ body, path }) => (path.includes("/agent-keys?") ? [JSON.parse(body)] : []))
      assert.deepStrictEqual(keys.at(-1), bytes.map((byte): string => keyOf(byte)).sort())
    })
  )
})
