import * as AgentRequest from "@catenet/crypto/AgentRequest"
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { EdgeId } from "@catenet/domain/edges/EdgeNode"
import { AgentId } from "@catenet/domain/enrollment/AgentStatus"
import { type Installation, TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Subject } from "@catenet/domain/values/Ids"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { tokenBytes } from "../../src/runtime/TokenSecrets.ts"
import { blocked } from "../harness/Blocked.ts"

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { url } = yield* RecordingEdge
    return TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: url })
  })
).pipe(Layer.provideMerge(Layer.merge(TestIssuer.layer, RecordingEdge.layer)))

const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const keyOf = (byte: number) =>
  Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(byte)))))
const keys = (...bytes: ReadonlyArray<number>) => bytes.map((byte): string => keyOf(byte)).sort()

/** An agent enrolls with the key of this byte, under the name that the installation gave it. */
const enroll = Effect.fnUntraced(function* ({ agent_id, join_token: token }: Installation, byte: number) {
  const { enrollment } = yield* TestServer.client
  const proof = Schema.decodeSync(Signature)(Hex.encode(Proof.prove(native, seedOf(byte), tokenBytes(token))))
  return yield* enrollment.redeem({ payload: { token, agent: AgentId.make(agent_id), pubkey: keyOf(byte), proof } })
})

/** The newest of so many orders about a tunnel. */
const newest = Effect.fnUntraced(function* (token: Installation["routing_token"], count: number) {
  const orders = yield* (yield* RecordingEdge).about(Redacted.value(token), count)
  assert.strictEqual(orders.length, count)
  const last = orders.at(-1)
  return { keys: JSON.parse(last?.body ?? ""), proof: last?.path.split("?proof=")[1] }
})

/** A tunnel of `name`, granted to `name-guest`, and what both may do with it. */
const shared = Effect.fnUntraced(function* (name: string) {
  const edge = yield* RecordingEdge
  const owner = yield* TestServer.clientAs({ bearer: yield* bearerOf(name) })
  const guest = yield* TestServer.clientAs({ bearer: yield* bearerOf(`${name}-guest`) })
  const { id } = yield* owner.tunnels.create({ headers: {}, payload: { name: Schema.decodeSync(TunnelName)(name) } })
  const grantee = Subject.make(`${name}-guest`)
  yield* owner.tunnels.grant({ params: { id }, payload: { grantee } })
  const install = (of: typeof owner) => of.tunnels.install({ headers: {}, params: { id } })
  const { routing_token: token } = yield* install(owner)
  return {
    id,
    owner,
    guest,
    token,
    install,
    ungrant: owner.tunnels.ungrant({ params: { id, grantee } }),
    ordered: (count: number) => newest(token, count),
    /** The token that took the place of the one the guest was shown, which edges have dropped for it. */
    replaced: Effect.gen(function* () {
      const { routing_token: fresh } = yield* install(owner)
      assert.notStrictEqual(Redacted.value(fresh), Redacted.value(token))
      const told = Effect.sync(() => edge.orders.findLast((order) => order.token === Redacted.value(token)))
      const revoked = yield* until(told, (order) => order?.path === "/admin/revoke")
      assert.strictEqual(revoked?.successor, Redacted.value(fresh))
      return fresh
    }),
    count: Effect.sync(() => edge.orders.filter((order) => order.token === Redacted.value(token)).length)
  }
})

const hex = Schema.decodeSync(RoutingToken)

/** An agent with the key of this byte asks which token the tunnel of this one has now. */
const exchange = Effect.fnUntraced(function* (token: RoutingToken, by: number | undefined, age = 0) {
  const path = "/agent/routing-token"
  const body = JSON.stringify({ token: Redacted.value(token) })
  const issuedAt = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1000) - age)
  const request = { method: "POST", path, body: new TextEncoder().encode(body) }
  const proof =
    by === undefined ? {} : { [AgentRequest.header]: AgentRequest.sign(native, seedOf(by), request, issuedAt) }
  const headers = { "content-type": "application/json", ...proof }
  const response = yield* TestServer.raw(path, { method: "POST", headers, body })
  const answer = yield* Effect.promise(() => response.json() as Promise<Record<string, unknown>>)
  const all: Record<string, unknown> = { ...answer, status: response.status }
  return all
})

const proved = (token: Installation["routing_token"], byte: number) =>
  Effect.flatMap(TestServer.client, ({ edges }) => edges.agentProved({ payload: { token, key: keyOf(byte) } }))

const other = Effect.flatMap(TestDatabase, ({ url }) => Effect.succeed(PgClient.layer({ url })))

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a grant that ends", (it) => {
  it.effect("revokes the keys enrolled through it and keeps those of the owner", () =>
    Effect.gen(function* () {
      const { guest, install, ordered, owner, replaced, ungrant } = yield* shared("ada")
      yield* enroll(yield* install(owner), 1)
      yield* enroll(yield* install(guest), 2)
      assert.deepStrictEqual(yield* ordered(2), { keys: keys(1, 2), proof: "optional" })
      yield* ungrant
      assert.deepStrictEqual(yield* newest(yield* replaced, 1), { keys: keys(1), proof: "optional" })
    })
  )

  it.effect("leaves a tunnel that nothing may serve where its only key went and proofs are needed", () =>
    Effect.gen(function* () {
      const { guest, install, ordered, replaced, token, ungrant } = yield* shared("bo")
      yield* enroll(yield* install(guest), 3)
      yield* proved(token, 3)
      assert.deepStrictEqual(yield* ordered(2), { keys: keys(3), proof: "required" })
      yield* ungrant
      const fresh = yield* replaced
      assert.deepStrictEqual(yield* newest(fresh, 1), { keys: [], proof: "required" })
      const { edges } = yield* TestServer.client
      const known = yield* edges.rehydrate({ params: { edge_id: EdgeId.make("primary") }, query: {} })
      const mine = known.find((entry) => Redacted.value(entry.token) === Redacted.value(fresh))
      assert.deepStrictEqual([mine?.agent_keys, mine?.agent_proof], [[], "required"])
    })
  )

  it.effect("ends with the account of the grantee", () =>
    Effect.gen(function* () {
      const { guest, install, ordered, replaced } = yield* shared("cy")
      yield* enroll(yield* install(guest), 4)
      assert.deepStrictEqual(yield* ordered(1), { keys: keys(4), proof: "optional" })
      yield* guest.accounts.remove({ payload: { confirm: "DELETE" } })
      assert.deepStrictEqual(yield* newest(yield* replaced, 1), { keys: [], proof: "optional" })
    })
  )

  it.effect(
    "leaves the routing token to agents that the owner lets in without a proof, and where it was never shown",
    () =>
      Effect.gen(function* () {
        const unseen = yield* shared("hal")
        yield* enroll(yield* unseen.install(unseen.owner), 9)
        yield* unseen.ungrant
        const lifted = yield* shared("ina")
        yield* lifted.install(lifted.guest)
        const payload = new TunnelChange({ allow_unproved_agents: true })
        yield* lifted.owner.tunnels.change({ params: { id: lifted.id }, payload })
        yield* lifted.ungrant
        for (const { install, owner, token } of [unseen, lifted])
          assert.strictEqual(Redacted.value((yield* install(owner)).routing_token), Redacted.value(token))
        // A new grant of the same account knows the token no sooner than the first.
        const { guest, id, install, owner, replaced, ungrant } = unseen
        yield* owner.tunnels.grant({ params: { id }, payload: { grantee: Subject.make("hal-guest") } })
        yield* install(guest)
        yield* ungrant
        yield* replaced
      })
  )

  it.effect("lets an agent with an enrolled key exchange any former token, and nobody else", () =>
    Effect.gen(function* () {
      const { guest, id, install, owner, replaced, token, ungrant } = yield* shared("joe")
      yield* enroll(yield* install(owner), 1)
      yield* enroll(yield* install(guest), 2)
      yield* proved(token, 1)
      assert.deepInclude(yield* exchange(token, 2), { status: 200, routing_token: Redacted.value(token) })
      yield* ungrant
      const fresh = yield* replaced
      assert.deepInclude(yield* exchange(token, 1), { status: 200, routing_token: Redacted.value(fresh) })
      assert.deepInclude(yield* exchange(token, 2), { status: 403, reason: "not-enrolled" })
      assert.deepInclude(yield* exchange(token, undefined), { status: 403, reason: "missing" })
      assert.deepInclude(yield* exchange(token, 1, 121), { status: 403, reason: "stale" })
      assert.deepInclude(yield* exchange(hex("7".repeat(64)), 1), { status: 403, reason: "not-enrolled" })
      const { routing_token: newer } = yield* owner.tunnels.rotateToken({ headers: {}, params: { id } })
      for (const old of [token, fresh])
        assert.deepInclude(yield* exchange(old, 1), { status: 200, routing_token: Redacted.value(newer) })
    })
  )

  it.effect("makes a join token unknown that it was given, and leaves one that was redeemed as spent", () =>
    Effect.gen(function* () {
      const { guest, install, ungrant } = yield* shared("gil")
      const redeemed = yield* install(guest)
      const open = yield* install(guest)
      yield* enroll(redeemed, 8)
      const again = yield* Effect.flip(enroll(redeemed, 8))
      assert.strictEqual(again._tag, "AgentAlreadyEnrolled")
      yield* ungrant
      const unknown = yield* Effect.flip(enroll(open, 8))
      assert.deepInclude(unknown, { _tag: "JoinTokenUnknown", status: 404 })
      const spent = yield* Effect.flip(enroll(redeemed, 8))
      assert.deepInclude(spent, { _tag: "JoinTokenSpent", status: 409 })
    })
  )

  it.effect("while its join token is redeemed, leaves either no key or a key that it drops", () =>
    Effect.gen(function* () {
      const { guest, id, install } = yield* shared("di")
      const sessions = yield* other
      const asked = yield* install(guest)
      const redeeming = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`delete from tunnel_grants where tunnel_id = ${id}`
            const redeeming = yield* Effect.forkChild(enroll(asked, 5))
            yield* blocked
            return redeeming
          })
        )
      }).pipe(Effect.provide(sessions))
      assert.strictEqual((yield* Effect.flip(Fiber.join(redeeming)))._tag, "JoinTokenUnknown")

      const again = yield* shared("ed")
      const ending = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`insert into agents (tenant, agent, tunnel, grantee, pubkey, bound_at)
              values ('ed', 'a', ${again.id}, 'ed-guest', ${keyOf(6)}, 1)`
            const ending = yield* Effect.forkChild(again.ungrant)
            yield* blocked
            return ending
          })
        )
      }).pipe(Effect.provide(sessions))
      yield* Fiber.join(ending)
      assert.deepStrictEqual(yield* again.ordered(1), { keys: [], proof: "optional" })
    })
  )

  it.effect("and redemptions through it never block each other for good", () =>
    Effect.gen(function* () {
      const { guest, install, owner, id, ungrant } = yield* shared("flo")
      for (let round = 0; round < 8; round++) {
        const asked = yield* install(guest)
        const [redeemed] = yield* Effect.all([Effect.result(enroll(asked, 7)), Effect.result(ungrant)], {
          concurrency: "unbounded"
        })
        if (redeemed._tag === "Failure") assert.strictEqual(redeemed.failure._tag, "JoinTokenUnknown")
        yield* owner.tunnels.grant({ params: { id }, payload: { grantee: Subject.make("flo-guest") } })
      }
    })
  )
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the first proof of an enrolled key", (it) => {
  it.effect("makes proofs needed once, however many edges report it, and for that key only", () =>
    Effect.gen(function* () {
      const { count, id, install, ordered, owner, token } = yield* shared("ada")
      yield* enroll(yield* install(owner), 1)
      yield* proved(token, 2)
      assert.strictEqual((yield* owner.tunnels.get({ params: { id } })).agent_proof, "optional")
      yield* Effect.all(
        Array.from({ length: 4 }, () => proved(token, 1)),
        { concurrency: "unbounded", discard: true }
      )
      assert.deepStrictEqual(yield* ordered(2), { keys: keys(1), proof: "required" })
      assert.strictEqual((yield* owner.tunnels.get({ params: { id } })).agent_proof, "required")
      yield* Effect.sleep("100 millis")
      assert.strictEqual(yield* count, 2)
    })
  )

  it.effect("counts no more where the owner lets agents in that cannot prove, until that is taken back", () =>
    Effect.gen(function* () {
      const { guest, id, install, ordered, owner, token } = yield* shared("bo")
      yield* enroll(yield* install(owner), 1)
      yield* proved(token, 1)
      const change = (allow_unproved_agents: boolean) =>
        owner.tunnels.change({ params: { id }, payload: new TunnelChange({ allow_unproved_agents }) })
      assert.strictEqual((yield* change(true)).agent_proof, "lifted")
      assert.deepStrictEqual(yield* ordered(3), { keys: keys(1), proof: "lifted" })
      assert.strictEqual((yield* change(false)).agent_proof, "required")
      assert.deepStrictEqual(yield* ordered(4), { keys: keys(1), proof: "required" })
      const foreign = guest.tunnels.change({
        params: { id },
        payload: new TunnelChange({ allow_unproved_agents: true })
      })
      assert.strictEqual((yield* Effect.flip(foreign))._tag, "TunnelNotFound")
    })
  )
})
