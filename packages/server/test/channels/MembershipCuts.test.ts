/** Every way in which a member loses its right on a channel reaches the edges, in the transaction that takes it. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { until } from "../../../domain/test/Eventually.ts"
import { ready } from "../harness/Accounts.ts"
import { RecordingEdge } from "../harness/RecordingEdge.ts"
import { TestIssuer } from "../harness/TestIssuer.ts"
import * as TestServer from "../harness/TestServer.ts"
import { account, ask } from "./Asking.ts"
import { grantBy, idOf, keyOf, linkOf, materialOf, seedOf } from "./ChannelsKeys.ts"

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { url } = yield* RecordingEdge
    return TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: url })
  })
).pipe(Layer.provideMerge(Layer.merge(TestIssuer.layer, RecordingEdge.layer)))

const ada = account("ada")
const operator_pubkey = keyOf("operator")

/** The cuts of a channel, once there are so many: each a holder, or all. */
const cutsOf = (channel: string, count: number) =>
  Effect.gen(function* () {
    const edge = yield* RecordingEdge
    const cuts = Effect.sync(() =>
      edge.orders
        .filter(({ path }) => path === "/internal/channel/cut")
        .map(({ body }) => JSON.parse(body) as { readonly channel: string; readonly holder?: string })
        .filter((order) => order.channel === channel)
        .map(({ holder }) => holder ?? "all")
    )
    return yield* until(cuts, (found) => found.length >= count)
  })

const channelOf = Effect.fn("channelOf")(function* (name: string, as = ada) {
  const channel = idOf(name)
  yield* ask(as, "/me/channels", { channel, operator_pubkey })
  yield* ask(as, `/me/channels/${channel}/members`, materialOf(channel, "m"))
  return channel
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("edges cut members of channels", (it) => {
  it.effect("when a member is removed, its grant replaced, the operator changed, and the channel removed", () =>
    Effect.gen(function* () {
      yield* ready
      const channel = yield* channelOf("hall")
      const deposit = (expires: bigint) =>
        ask(ada, `/me/channels/${channel}/grants/${keyOf("m")}`, { grant: grantBy("operator", channel, "m", expires) })
      assert.strictEqual((yield* deposit(4_000_000_000n)).status, 200)
      assert.strictEqual((yield* deposit(4_000_000_001n)).status, 200)
      assert.deepStrictEqual(yield* cutsOf(channel, 1), [keyOf("m")], "the first grant takes nothing away")
      yield* ask(ada, `/me/channels/${channel}/members/${keyOf("m")}/remove`, {})
      assert.deepStrictEqual(yield* cutsOf(channel, 2), [keyOf("m"), keyOf("m")])
      const rekeyed = { channel, operator_pubkey: keyOf("successor"), confirm_rekey: true }
      assert.strictEqual((yield* ask(ada, "/me/channels", rekeyed)).status, 200)
      assert.strictEqual((yield* ask(ada, `/me/channels/${channel}`, undefined, { method: "DELETE" })).status, 200)
      assert.deepStrictEqual((yield* cutsOf(channel, 4)).slice(2), ["all", "all"])
    })
  )

  it.effect("when the account that owns the channel ends", () =>
    Effect.gen(function* () {
      const bob = account("bob")
      const channel = yield* channelOf("attic", bob)
      const { status } = yield* ask(bob, "/me/account/delete", { confirm: "DELETE" })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(yield* cutsOf(channel, 1), ["all"])
    })
  )

  it.effect("when an edge of a topology is removed, and when its operator is unbound", () =>
    Effect.gen(function* () {
      const { body } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
      const id = String(body["id"])
      const ends = { a: keyOf("m"), b: keyOf("n") }
      const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), id))
      yield* ask(ada, `/me/topologies/${id}/edges`, ends)
      yield* ask(ada, `/me/topologies/${id}/edges`, { a: keyOf("m"), b: keyOf("o") })
      yield* ask(ada, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
      yield* ask(ada, `/me/topologies/${id}/edges`, ends, { method: "DELETE" })
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator", "m", "n"), 1), ["all"])
      yield* ask(ada, `/me/topologies/${id}/operator`, undefined, { method: "DELETE" })
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator", "m", "o"), 1), ["all"])
    })
  )
})
