/** Every way in which a member loses its right on a channel reaches the edges, in the transaction that takes it. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import { until } from "@catenet/testing/Eventually"
import { ready } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, linkOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"

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
        .map(
          ({ body }) =>
            JSON.parse(body) as { readonly channel: string; readonly holder?: string; readonly keeps?: string }
        )
        .filter((order) => order.channel === channel)
        .map(({ holder, keeps }) => `${holder ?? "all"}${keeps === undefined ? "" : ` but by ${keeps}`}`)
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
  it.effect("when a member is removed, a grant deposited, the operator changed, and the channel removed", () =>
    Effect.gen(function* () {
      yield* ready
      const channel = yield* channelOf("hall")
      const deposit = (expires: bigint) =>
        ask(ada, `/me/channels/${channel}/grants/${keyOf("m")}`, { grant: grantBy("operator", channel, "m", expires) })
      const by = (expires: bigint) => {
        const grant = Buffer.from(grantBy("operator", channel, "m", expires), "hex")
        return `${keyOf("m")} but by ${createHash("sha256").update(grant).digest("hex")}`
      }
      assert.strictEqual((yield* deposit(4_000_000_000n)).status, 200)
      assert.deepStrictEqual(yield* cutsOf(channel, 1), [by(4_000_000_000n)], "what it has by another grant")
      assert.strictEqual((yield* deposit(4_000_000_001n)).status, 200)
      assert.deepStrictEqual((yield* cutsOf(channel, 2))[1], by(4_000_000_001n))
      yield* ask(ada, `/me/channels/${channel}/members/${keyOf("m")}/remove`, {})
      assert.deepStrictEqual((yield* cutsOf(channel, 3))[2], keyOf("m"))
      const rekeyed = { channel, operator_pubkey: keyOf("successor"), confirm_rekey: true }
      assert.strictEqual((yield* ask(ada, "/me/channels", rekeyed)).status, 200)
      assert.strictEqual((yield* ask(ada, `/me/channels/${channel}`, undefined, { method: "DELETE" })).status, 200)
      assert.deepStrictEqual((yield* cutsOf(channel, 5)).slice(3), ["all", "all"])
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
      const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), { topologyId: id }))
      yield* ask(ada, `/me/topologies/${id}/edges`, ends)
      yield* ask(ada, `/me/topologies/${id}/edges`, { a: keyOf("m"), b: keyOf("o") })
      yield* ask(ada, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
      yield* ask(ada, `/me/topologies/${id}/edges`, ends, { method: "DELETE" })
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator", "m", "n"), 1), ["all"])
      yield* ask(ada, `/me/topologies/${id}/operator`, undefined, { method: "DELETE" })
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator", "m", "o"), 1), ["all"])
    })
  )

  /** A topology of the account with a bound operator and these agents, linked in a row. */
  const rowOf = Effect.fn("rowOf")(function* (as: typeof ada, operator: string, ...agents: ReadonlyArray<string>) {
    const { body } = yield* ask(as, "/me/topologies", undefined, { method: "POST" })
    const id = String(body["id"])
    const binding = {
      operator_pubkey: keyOf(operator),
      proof: Hex.encode(OperatorBinding.sign(native, seedOf(operator), { topologyId: id }))
    }
    yield* ask(as, `/me/topologies/${id}/operator`, binding, { method: "PUT" })
    for (const agent of agents) yield* ask(as, `/me/topologies/${id}/agents`, { agent: keyOf(agent) })
    for (const [index, agent] of agents.slice(1).entries())
      yield* ask(as, `/me/topologies/${id}/edges`, { a: keyOf(agents[index]!), b: keyOf(agent) })
    return id
  })

  it.effect("when an agent leaves a topology, and when the topology is removed", () =>
    Effect.gen(function* () {
      const id = yield* rowOf(ada, "operator-2", "p", "q", "r")
      yield* ask(ada, `/me/topologies/${id}/agents/${keyOf("p")}`, undefined, { method: "DELETE" })
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator-2", "p", "q"), 1), ["all"])
      yield* ask(ada, `/me/topologies/${id}`, undefined, { method: "DELETE" })
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator-2", "q", "r"), 1), ["all"])
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator-2", "p", "q"), 1), ["all"], "once")
    })
  )

  it.effect("when the agent's key signs for another topology", () =>
    Effect.gen(function* () {
      yield* rowOf(ada, "operator-3", "s", "t")
      const eve = account("eve")
      const { body } = yield* ask(eve, "/me/topologies", undefined, { method: "POST" })
      const id = String(body["id"])
      const placement = { topologyId: id, subject: "eve", holder: Uint8Array.from(Buffer.from(keyOf("s"), "hex")) }
      const proof = Hex.encode(PlacementProof.sign(native, seedOf("s"), placement))
      const { status } = yield* ask(eve, `/me/topologies/${id}/agents`, { agent: keyOf("s"), proof })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator-3", "s", "t"), 1), ["all"])
    })
  )

  it.effect("when the account that owns the topology, or an agent in it, ends", () =>
    Effect.gen(function* () {
      const dan = account("dan")
      yield* rowOf(dan, "operator-4", "u", "v")
      yield* ask(dan, "/me/account/delete", { confirm: "DELETE" })
      assert.deepStrictEqual(yield* cutsOf(linkOf("operator-4", "u", "v"), 1), ["all"])
    })
  )
})
