import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Proof from "@catenet/crypto/OperatorBinding"
import { ChannelId, ChannelRegistration } from "@catenet/domain/channels/Channel"
import { OperatorBinding } from "@catenet/domain/topologies/Topology"
import { Email } from "@catenet/domain/values/Email"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey } from "@catenet/domain/values/Keys"
import { bearerOf, database, server, sessionOf } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"

const holder = (digit: string) => Schema.decodeSync(HolderKey)(digit.repeat(64))
const [a, b, c] = [holder("a"), holder("b"), holder("c")]
const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const publicOf = (byte: number) => native.ed25519.publicKey(Redacted.value(seedOf(byte)))

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))
const channelOf = (byte: number, x: HolderKey, y: HolderKey) =>
  Schema.decodeSync(ChannelId)(Hex.encode(ChannelIds.link(native, publicOf(byte), bytes(x), bytes(y))))
const binding = (byte: number, id: TopologyId) => ({
  params: { id },
  payload: Schema.decodeSync(OperatorBinding)({
    operator_pubkey: Hex.encode(publicOf(byte)),
    proof: Hex.encode(Proof.sign(native, seedOf(byte), { topologyId: id }))
  })
})

/** What an edge would learn: the operator in whose name each holder may join the channel of the link. */
const admitted = (byte: number, x: HolderKey, y: HolderKey) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const operatorFor = Effect.fnUntraced(function* (channel: ChannelId, holder: HolderKey) {
      const [found] = yield* sql<{ readonly operatorPubkey: string }>`
        select t.operator_pubkey from topology_edges e join topologies t on t.id = e.topology_id
        where e.link = ${channel} and ${holder} in (e.a, e.b)`
      return Option.fromUndefinedOr(found?.operatorPubkey)
    })
    const channel = channelOf(byte, x, y)
    const both = yield* Effect.all([operatorFor(channel, x), operatorFor(channel, y)])
    assert.isTrue(Option.isNone(yield* operatorFor(channel, holder("9"))), "no other holder")
    assert.isTrue(Option.isNone(yield* operatorFor(channelOf(7, x, y), x)), "no other channel")
    for (const operator of both) {
      if (Option.isSome(operator)) assert.strictEqual(operator.value, Hex.encode(publicOf(byte)))
    }
    return both.map(Option.isSome)
  }).pipe(Effect.provide(database))

const yes = [true, true]
const no = [false, false]

const account = (sub: string) =>
  Effect.map(
    Effect.flatMap(bearerOf(sub), (bearer) => TestServer.clientAs({ bearer })),
    ({ topologies }) => topologies
  )

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("topology authorizations", (it) => {
  it.effect("edges admit both their ends while an operator is bound, and only then", () =>
    Effect.gen(function* () {
      const ada = yield* account("ada")
      const { id } = yield* ada.create({ headers: {} })
      const params = { id }
      yield* ada.addEdge({ headers: {}, params, payload: { a, b } })
      assert.deepStrictEqual(yield* admitted(1, a, b), no, "unbound")
      yield* ada.bindOperator(binding(1, id))
      assert.deepStrictEqual(yield* admitted(1, a, b), yes, "drawn before the binding")
      yield* ada.addEdge({ headers: {}, params, payload: { a: c, b } })
      assert.deepStrictEqual(yield* admitted(1, b, c), yes, "drawn after it")
      assert.deepStrictEqual(yield* admitted(1, a, c), no, "not drawn")
      yield* ada.bindOperator(binding(2, id))
      assert.deepStrictEqual(yield* admitted(1, a, b), no, "another operator is another channel")
      assert.deepStrictEqual(yield* admitted(2, a, b), yes)
      yield* ada.removeEdge({ params, payload: { a: b, b: a } })
      assert.deepStrictEqual(yield* admitted(2, a, b), no, "erased")
      assert.deepStrictEqual(yield* admitted(2, b, c), yes)
      yield* ada.unbindOperator({ params })
      assert.deepStrictEqual(yield* admitted(2, b, c), no, "unbound again")
    })
  )

  it.effect("a link's channel is registered with the bound operator's key alone", () =>
    Effect.gen(function* () {
      const ada = yield* account("ada")
      const { id } = yield* ada.create({ headers: {} })
      const [p, q] = [holder("1"), holder("2")]
      yield* ada.bindOperator(binding(5, id))
      yield* ada.addEdge({ headers: {}, params: { id }, payload: { a: p, b: q } })
      const channel = channelOf(5, p, q)
      const register = (sub: string, byte: number, confirm_rekey = false) =>
        Effect.gen(function* () {
          const client = yield* TestServer.clientAs({ bearer: yield* bearerOf(sub) })
          const operator_pubkey = Hex.encode(publicOf(byte))
          const payload = Schema.decodeSync(ChannelRegistration)({ channel, operator_pubkey, confirm_rekey })
          return yield* client.channels.register({ payload }).pipe(
            Effect.as("registered"),
            Effect.catch(({ _tag }) => Effect.succeed(_tag))
          )
        })
      assert.strictEqual(yield* register("eve", 6), "LinkOperatorDiffers")
      assert.strictEqual(yield* register("eve", 6, true), "LinkOperatorDiffers")
      assert.strictEqual(yield* register("ada", 5), "registered", "nothing was kept of the refused ones")
      assert.strictEqual(yield* register("ada", 5), "registered", "again")
      assert.strictEqual(yield* register("eve", 6), "NotChannelOwner")
      assert.strictEqual(yield* register("ada", 6), "OperatorMismatch")
      assert.strictEqual(yield* register("ada", 6, true), "LinkOperatorDiffers")
      yield* ada.unbindOperator({ params: { id } })
      assert.strictEqual(yield* register("ada", 6, true), "registered")
      yield* ada.bindOperator(binding(5, id))
      assert.strictEqual(yield* register("ada", 6), "registered", "what is there may be repeated")
      assert.strictEqual(yield* register("ada", 5, true), "registered", "and given back")
    })
  )

  it.effect("edges end with their agent, and with the topology", () =>
    Effect.gen(function* () {
      const ada = yield* account("ada")
      const { id } = yield* ada.create({ headers: {} })
      const params = { id }
      yield* ada.assignAgent({ headers: {}, params, payload: { agent: a } })
      yield* ada.bindOperator(binding(3, id))
      yield* ada.addEdge({ headers: {}, params, payload: { a, b } })
      yield* ada.addEdge({ headers: {}, params, payload: { a: b, b: c } })
      yield* ada.unassignAgent({ params: { id, agent: a } })
      assert.deepStrictEqual(yield* admitted(3, a, b), no)
      assert.deepStrictEqual(yield* admitted(3, b, c), yes)
      yield* ada.remove({ params })
      assert.deepStrictEqual(yield* admitted(3, b, c), no)
    })
  )

  it.effect("nothing is left of an account that is removed", () =>
    Effect.gen(function* () {
      const ada = yield* account("ann")
      const params = { id: (yield* ada.create({ headers: {} })).id }
      const email = Schema.decodeSync(Email)("ben@b.example")
      yield* ada.share({ params, payload: { email } })
      const session = yield* sessionOf("ben", email)
      const origin = "https://localhost"
      const { accounts, topologies: ben } = yield* TestServer.clientAs({ session, origin })
      const own = { id: (yield* ben.create({ headers: {} })).id }
      const [hers, his] = [holder("d"), holder("e")]
      yield* ada.assignAgent({ headers: {}, params, payload: { agent: hers } })
      yield* ben.assignAgent({ headers: {}, params, payload: { agent: his } })
      yield* ada.addEdge({ headers: {}, params, payload: { a: hers, b: his } })

      yield* accounts.remove({ payload: { confirm: "DELETE" } })
      const left = yield* ada.get({ params })
      assert.deepStrictEqual(left.agents, [[hers, "peer"]])
      assert.deepStrictEqual(left.edges, [])
      assert.deepStrictEqual((yield* ada.listShares({ params, query: {} })).emails, [])
      const again = yield* account("ben")
      assert.strictEqual((yield* Effect.flip(again.get({ params: own })))._tag, "TopologyNotFound")
      yield* ada.assignAgent({ headers: {}, params, payload: { agent: his } })
    })
  )

  it.effect("changes of topologies are audited, without the public id", () =>
    Effect.gen(function* () {
      const ada = yield* account("Eve")
      const { id, net_uuid } = yield* ada.create({ headers: {} })
      yield* ada.addEdge({ headers: {}, params: { id }, payload: { a: b, b: a } })
      yield* ada.bindOperator(binding(4, id))
      const sql = yield* SqlClient.SqlClient
      const entries = yield* sql`select actor, action, target, detail from audit_log where target = ${id} order by id`
      const key = Hex.encode(publicOf(4))
      assert.deepStrictEqual(entries, [
        { actor: "eve", action: "topology_created", target: id, detail: "" },
        { actor: "eve", action: "topology_edge_added", target: id, detail: `${a} ${b}` },
        { actor: "eve", action: "topology_operator_bound", target: id, detail: key }
      ])
      assert.notInclude(JSON.stringify(yield* sql`select * from audit_log`), net_uuid)
    }).pipe(Effect.provide(database))
  )
})
