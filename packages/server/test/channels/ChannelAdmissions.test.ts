import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { ChannelId } from "@catenet/domain/channels/Channel"
import { HolderKey } from "@catenet/domain/values/Keys"
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, linkOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Schema } from "effect"
import { ChannelAdmissions } from "../../src/channels/ChannelAdmissions.ts"

const ada = account("ada")
const operator_pubkey = keyOf("operator")

const authorize = (channel: string, word: string) =>
  ask("operator", "/internal/channel/authorize", { channel, holder: keyOf(word) })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("channel admission", (it) => {
  it.effect("an edge learns the operator and the keys of a member, and of no removed member", () =>
    Effect.gen(function* () {
      const channel = idOf("hall")
      yield* ask(ada, "/me/channels", { channel, operator_pubkey })
      const { noise_attestation, noise_pubkey } = materialOf(channel, "m")
      yield* ask(ada, `/me/channels/${channel}/members`, materialOf(channel, "m"))
      const { body } = yield* authorize(channel, "m")
      assert.deepStrictEqual(body, { operator_pubkey, noise_pubkey, noise_attestation })
      const successor = keyOf("successor")
      yield* ask(ada, "/me/channels", { channel, operator_pubkey: successor, confirm_rekey: true })
      assert.strictEqual((yield* authorize(channel, "m")).body["operator_pubkey"], successor)
      assert.strictEqual((yield* authorize(channel, "stranger")).code, "MemberNotAdmitted")
      assert.strictEqual((yield* authorize(idOf("nowhere"), "m")).code, "MemberNotAdmitted")
      yield* ask(ada, `/me/channels/${channel}/members/${keyOf("m")}/remove`, {})
      assert.strictEqual((yield* authorize(channel, "m")).code, "MemberNotAdmitted")
    })
  )

  it.effect("an edge asks with the admin token, and about well-formed keys", () =>
    Effect.gen(function* () {
      const body = { channel: idOf("hall"), holder: keyOf("m") }
      assert.strictEqual((yield* ask("anonymous", "/internal/channel/authorize", body)).status, 401)
      assert.strictEqual((yield* ask(ada, "/internal/channel/authorize", body)).status, 401)
      const malformed = yield* ask("operator", "/internal/channel/authorize", { ...body, holder: "m" })
      assert.strictEqual(malformed.status, 400)
    })
  )

  it.effect("an end of a link is admitted by the Noise key that it has attested for the channel, and by no other", () =>
    Effect.gen(function* () {
      const { body } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
      const id = String(body["id"])
      const [s, t] = [keyOf("s"), keyOf("t")]
      const link = linkOf("operator", "s", "t")
      const store = (as: typeof ada, agent: string, material: object, of = id) =>
        ask(as, `/me/topologies/${of}/agents/${keyOf(agent)}/noise-key`, { channel: link, ...material })
      const { holder: _, ...material } = materialOf(link, "s")
      assert.strictEqual((yield* store(ada, "s", material)).code, "AgentNotAssigned")
      for (const agent of [s, t]) yield* ask(ada, `/me/topologies/${id}/agents`, { agent })
      assert.strictEqual((yield* store(ada, "s", material)).code, "EdgeNotFound", "no link opens the channel")
      yield* ask(ada, `/me/topologies/${id}/edges`, { a: s, b: t })
      assert.strictEqual((yield* store(ada, "s", material)).code, "EdgeNotFound", "no operator is bound")
      const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), { topologyId: id }))
      yield* ask(ada, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
      assert.strictEqual((yield* authorize(link, "s")).code, "MemberNotAdmitted", "unkeyed")

      const eve = person("eve")
      assert.strictEqual((yield* store(eve, "s", material)).code, "TopologyNotFound")
      yield* ask(ada, `/me/topologies/${id}/share`, { email: "eve@people.example" })
      const origin = { headers: { origin: "https://localhost" } }
      const path = `/me/topologies/${id}/agents/${s}/noise-key`
      const byEditor = yield* ask(eve, path, { channel: link, ...material }, origin)
      assert.strictEqual(byEditor.code, "NotAgentOwner")
      assert.strictEqual((yield* store(ada, "s", material, "0".repeat(32))).code, "TopologyNotFound")
      for (const bad of [materialOf(link, "t"), materialOf(idOf("elsewhere"), "s")])
        assert.strictEqual((yield* store(ada, "s", bad)).code, "AttestationRefused")
      const elsewhere = materialOf(idOf("elsewhere"), "s")
      assert.strictEqual(
        (yield* store(ada, "s", { ...elsewhere, channel: idOf("elsewhere") })).code,
        "EdgeNotFound",
        "no channel but the link's"
      )
      assert.strictEqual((yield* authorize(link, "s")).code, "MemberNotAdmitted", "refusals store nothing")

      assert.strictEqual((yield* store(ada, "s", material)).status, 200)
      assert.deepStrictEqual((yield* authorize(link, "s")).body, { operator_pubkey, ...material })
      assert.strictEqual((yield* authorize(link, "t")).code, "MemberNotAdmitted", "the other end is unkeyed")
      const { holder: __, ...second } = materialOf(link, "s", "second key")
      assert.strictEqual((yield* store(ada, "s", second)).status, 200)
      assert.deepStrictEqual((yield* authorize(link, "s")).body, { operator_pubkey, ...second })

      yield* ask(ada, `/me/topologies/${id}/edges`, { a: s, b: t }, { method: "DELETE" })
      assert.strictEqual((yield* authorize(link, "s")).code, "MemberNotAdmitted", "the link is gone")
      yield* ask(ada, `/me/topologies/${id}/edges`, { a: s, b: t })
      assert.deepStrictEqual((yield* authorize(link, "s")).body, { operator_pubkey, ...second }, "drawn again")
    })
  )

  it.effect("a registration of the channel of a link by another account does not change the operator", () =>
    Effect.gen(function* () {
      const link = linkOf("operator", "v", "w")
      yield* ask(account("mallory"), "/me/channels", { channel: link, operator_pubkey: keyOf("mallory") })
      const { body } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
      const id = String(body["id"])
      for (const agent of ["v", "w"]) yield* ask(ada, `/me/topologies/${id}/agents`, { agent: keyOf(agent) })
      const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), { topologyId: id }))
      yield* ask(ada, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
      yield* ask(ada, `/me/topologies/${id}/edges`, { a: keyOf("v"), b: keyOf("w") })
      const { holder: _, ...material } = materialOf(link, "v")
      yield* ask(account("mallory"), `/me/channels/${link}/members`, materialOf(link, "v"))
      assert.strictEqual((yield* authorize(link, "v")).body["operator_pubkey"], operator_pubkey)
      yield* ask(account("mallory"), `/me/channels/${link}`, undefined, { method: "DELETE" })
      yield* ask(ada, `/me/topologies/${id}/agents/${keyOf("v")}/noise-key`, { channel: link, ...material })
      assert.deepStrictEqual((yield* authorize(link, "v")).body, { operator_pubkey, ...material })
    })
  )

  it.effect("an edge of a topology admits no holder without stored keys, and logs it", () =>
    Effect.gen(function* () {
      const { body } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
      const id = String(body["id"])
      const link = linkOf("operator", "m", "n")
      yield* ask(ada, `/me/topologies/${id}/edges`, { a: keyOf("m"), b: keyOf("n") })
      const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), { topologyId: id }))
      const bound = yield* ask(ada, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
      assert.strictEqual(bound.status, 200)
      assert.strictEqual((yield* authorize(link, "m")).code, "MemberNotAdmitted")

      const lines: Array<unknown> = []
      const heard = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
      const admissions = ChannelAdmissions.layer.pipe(Layer.provide(Layer.fresh(database)))
      const place = (word: string) => ({
        channel: Schema.decodeSync(ChannelId)(link),
        holder: Schema.decodeSync(HolderKey)(keyOf(word))
      })
      const refuse = (word: string) => Effect.flip(ChannelAdmissions.use(({ authorize }) => authorize(place(word))))
      yield* Effect.forEach(["m", "stranger"], refuse).pipe(Effect.provide([admissions, heard]))
      assert.deepStrictEqual(lines, [["topology-unkeyed", place("m")]])

      yield* ask(ada, "/me/channels", { channel: link, operator_pubkey })
      yield* ask(ada, `/me/channels/${link}/members`, materialOf(link, "m"))
      assert.strictEqual((yield* authorize(link, "m")).status, 200, "with a key on record it is admitted")
    })
  )
})
