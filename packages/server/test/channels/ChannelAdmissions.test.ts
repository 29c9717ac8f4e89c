import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { ChannelId } from "@catenet/domain/channels/Channel"
import { HolderKey } from "@catenet/domain/values/Keys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Schema } from "effect"
import { ChannelAdmissions } from "../../src/channels/ChannelAdmissions.ts"
import { TopologyAuthorizations } from "../../src/channels/TopologyAuthorizations.ts"
import { database, server } from "../harness/Accounts.ts"
import { account, ask } from "./Asking.ts"
import { idOf, keyOf, linkOf, materialOf, seedOf } from "./ChannelsKeys.ts"

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

  it.effect("an edge of a topology admits no holder without stored keys, and logs it", () =>
    Effect.gen(function* () {
      const { body } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
      const id = String(body["id"])
      const link = linkOf("operator", "m", "n")
      yield* ask(ada, `/me/topologies/${id}/edges`, { a: keyOf("m"), b: keyOf("n") })
      const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), id))
      const bound = yield* ask(ada, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
      assert.strictEqual(bound.status, 200)
      assert.strictEqual((yield* authorize(link, "m")).code, "MemberNotAdmitted")

      const lines: Array<unknown> = []
      const heard = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
      const admissions = ChannelAdmissions.layer.pipe(
        Layer.provide(TopologyAuthorizations.layer),
        Layer.provide(Layer.fresh(database))
      )
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
