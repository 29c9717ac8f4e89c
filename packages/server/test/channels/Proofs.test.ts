/**
 * The operator's own signature decides who has a channel, and the holder's whose a claimed membership is: against what was done
 * without one, never against another proof. An attestation alone is known to a holder's peers too.
 */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as ClaimProof from "@catenet/crypto/ClaimProof"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import * as OperatorProof from "@catenet/crypto/OperatorProof"
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, linkOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { blocked } from "../harness/Blocked.ts"

const [ada, eve] = [account("ada"), account("eve")]
const proofOf = (operator: string, subject: string) =>
  Hex.encode(OperatorProof.sign(native, seedOf(operator), { subject }))

const register = (as: typeof ada, channel: string, operator: string, more: object = {}) =>
  ask(as, "/me/channels", { channel, operator_pubkey: keyOf(operator), ...more })
const roleOf = (operator: string, pipeline: string, role: string) => {
  const key = native.ed25519.publicKey(Redacted.value(seedOf(operator)))
  return Hex.encode(ChannelIds.pipelineRole(native, key, pipeline, role))
}
const seen = ({ code, status }: { readonly code: string | undefined; readonly status: number }) => [status, code]
const holders = (a: string, b: string) => ({ derived_from: { holders: [keyOf(a), keyOf(b)] } })

const owner = account("owner")
const claimed = idOf("claimed")

const claimProofOf = (holder: string, subject: string) =>
  Hex.encode(ClaimProof.sign(native, seedOf(holder), { channel: new Uint8Array(Buffer.from(claimed, "hex")), subject }))

const claim = (name: string, more: object = {}) =>
  Effect.map(
    ask(person(name), `/portal/channels/${claimed}/claim`, { ...materialOf(claimed, "holder"), ...more }),
    ({ code, status }) => [status, code]
  )

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  (it) => {
    describe("a registration with the operator's proof", () => {
      it.effect("takes a link's channel from who registered it first, and ends the members that are there", () =>
        Effect.gen(function* () {
          const channel = linkOf("operator", "a", "b")
          assert.strictEqual((yield* register(eve, channel, "eve's operator")).status, 200)
          yield* ask(eve, `/me/channels/${channel}/members`, materialOf(channel, "eve's agent"))
          assert.deepStrictEqual(seen(yield* register(ada, channel, "operator")), [403, "NotChannelOwner"])

          const operator_proof = proofOf("operator", "ada")
          const alone = yield* register(ada, channel, "operator", { operator_proof })
          assert.deepStrictEqual(seen(alone), [403, "NotChannelOwner"], "any key could sign for a chosen id")
          const taken = yield* register(ada, channel, "operator", { operator_proof, ...holders("b", "a") })
          assert.strictEqual(taken.status, 200)

          const { body } = yield* ask(ada, `/me/channels/${channel}`)
          assert.deepStrictEqual(body, { channel, operator_pubkey: keyOf("operator"), members: 0 })
          assert.deepStrictEqual(seen(yield* ask(eve, `/me/channels/${channel}`)), [403, "NotChannelOwner"])
          assert.deepStrictEqual(seen(yield* register(eve, channel, "eve's operator")), [403, "NotChannelOwner"])
          const sql = yield* SqlClient.SqlClient
          const logged = yield* sql`select actor, action from audit_log where target = ${channel} order by id`
          assert.deepStrictEqual(logged.slice(-2), [
            { actor: "ada", action: "channel_taken_over" },
            { actor: "eve", action: "channel_yielded" }
          ])
          const cuts = yield* sql`select 1 from channel_members where channel = ${channel}`
          assert.lengthOf(cuts, 0)
        })
      )

      it.effect("takes the channel of a pipeline's role", () =>
        Effect.gen(function* () {
          const channel = roleOf("operator", "flappy", "physics")
          yield* register(eve, channel, "operator")
          const proof = { operator_proof: proofOf("operator", "ada") }
          const wrong = { ...proof, derived_from: { pipeline: "flappy", role: "art" } }
          assert.deepStrictEqual(seen(yield* register(ada, channel, "operator", wrong)), [403, "OperatorProofRefused"])
          const right = { ...proof, derived_from: { pipeline: "flappy", role: "physics" } }
          assert.strictEqual((yield* register(ada, channel, "operator", right)).status, 200)
        })
      )

      it.effect("sees the channel as the command left it that it had to wait for", () =>
        Effect.gen(function* () {
          const channel = idOf("meanwhile")
          const sql = yield* SqlClient.SqlClient
          const registering = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`select pg_advisory_xact_lock(hashtextextended(${channel}, 3))`
              const proof = { operator_proof: proofOf("operator", "ada") }
              const registering = yield* Effect.forkChild(register(ada, channel, "operator", proof))
              yield* blocked
              yield* sql`insert into channels ${sql.insert({ channel, owner: "eve", operatorPubkey: keyOf("operator"), proof: "derived", createdAt: 1 })}`
              return registering
            })
          )
          assert.deepStrictEqual(seen(yield* Fiber.join(registering)), [403, "NotChannelOwner"])
        })
      )

      it.effect("opens a room whose pairs another account has registered", () =>
        Effect.gen(function* () {
          const pair = linkOf("host", "x", "y")
          yield* register(eve, pair, "host")
          const room = { operator_pubkey: keyOf("host"), holders: ["x", "y", "z"].map(keyOf) }
          assert.deepStrictEqual(seen(yield* ask(ada, "/me/rooms", room)), [409, "RoomPairTaken"])
          const wrong = { ...room, operator_proof: proofOf("host", "eve") }
          assert.deepStrictEqual(seen(yield* ask(ada, "/me/rooms", wrong)), [403, "OperatorProofRefused"])
          const proved = { ...room, operator_proof: proofOf("host", "ada") }
          assert.strictEqual((yield* ask(ada, "/me/rooms", proved)).status, 200)
          assert.strictEqual((yield* ask(ada, "/me/rooms", proved)).status, 200, "opened again")
          assert.strictEqual((yield* ask(ada, `/me/channels/${pair}`)).status, 200)
          const again = { ...room, operator_proof: proofOf("host", "eve") }
          assert.deepStrictEqual(seen(yield* ask(eve, "/me/rooms", again)), [409, "RoomPairTaken"])
        })
      )

      it.effect("proves the channels of a room that was opened without, when it is opened again", () =>
        Effect.gen(function* () {
          const room = { operator_pubkey: keyOf("late"), holders: ["x", "y"].map(keyOf) }
          yield* ask(ada, "/me/rooms", room)
          yield* ask(ada, "/me/rooms", { ...room, operator_proof: proofOf("late", "ada") })
          const second = { ...room, operator_proof: proofOf("late", "eve") }
          assert.deepStrictEqual(seen(yield* ask(eve, "/me/rooms", second)), [409, "RoomPairTaken"])
        })
      )

      it.effect("is not needed for a link of an own topology that is bound to the operator", () =>
        Effect.gen(function* () {
          const channel = linkOf("binder", "a", "b")
          yield* register(eve, channel, "binder")
          const { body } = yield* ask(ada, "/me/topologies", {})
          const topology = String(body["id"])
          for (const agent of ["a", "b"].map(keyOf)) yield* ask(ada, `/me/topologies/${topology}/agents`, { agent })
          yield* ask(ada, `/me/topologies/${topology}/edges`, { a: keyOf("a"), b: keyOf("b") })
          assert.deepStrictEqual(seen(yield* register(ada, channel, "binder")), [403, "NotChannelOwner"])
          const proof = Hex.encode(OperatorBinding.sign(native, seedOf("binder"), { topologyId: topology }))
          const binding = { operator_pubkey: keyOf("binder"), proof }
          yield* ask(ada, `/me/topologies/${topology}/operator`, binding, { method: "PUT" })
          assert.strictEqual((yield* register(ada, channel, "binder")).status, 200)
          assert.deepStrictEqual(seen(yield* ask(eve, `/me/channels/${channel}`)), [403, "NotChannelOwner"])
        })
      )
    })

    describe("a claim with the holder's proof for the account", () => {
      it.effect("takes the holder from an account that has none, and is taken by nobody", () =>
        Effect.gen(function* () {
          yield* ask(owner, "/me/channels", { channel: claimed, operator_pubkey: keyOf("operator") })
          for (const name of ["ada", "eve"])
            yield* ask(owner, `/me/channels/${claimed}/allowlist`, { email: `${name}@people.example` })
          assert.deepStrictEqual(yield* claim("eve"), [200, undefined], "as the contract has it")
          assert.deepStrictEqual(yield* claim("ada"), [409, "HolderClaimedElsewhere"])
          for (const account_proof of [claimProofOf("holder", "eve"), claimProofOf("other", "ada"), "00".repeat(64)])
            assert.deepStrictEqual(yield* claim("ada", { account_proof }), [403, "ClaimProofRefused"])
          assert.deepStrictEqual(yield* claim("ada", { account_proof: "x" }), [400, "MalformedRequest"])
          const account_proof = claimProofOf("holder", "ada")
          assert.deepStrictEqual(yield* claim("ada", { account_proof }), [200, undefined])
          for (const more of [{}, { account_proof: claimProofOf("holder", "eve") }])
            assert.deepStrictEqual(yield* claim("eve", more), [409, "HolderClaimedElsewhere"])
          assert.deepStrictEqual(yield* claim("eve", { account_proof }), [403, "ClaimProofRefused"])
          assert.deepStrictEqual(yield* claim("ada"), [200, undefined], "without it again")
          const sql = yield* SqlClient.SqlClient
          assert.deepStrictEqual(yield* sql`select subject, is_proved from channel_claims`, [
            { subject: "ada", isProved: true }
          ])
        })
      )
    })
  }
)
