/** The holder's own signature decides whose a claimed membership is: the attestation alone is known to its peers too. */
import * as ClaimProof from "@catenet/crypto/ClaimProof"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const owner = account("owner")
const channel = idOf("claimed")

const proofOf = (holder: string, subject: string) =>
  Hex.encode(ClaimProof.sign(native, seedOf(holder), { channel: new Uint8Array(Buffer.from(channel, "hex")), subject }))

const claim = (name: string, more: object = {}) =>
  Effect.map(
    ask(person(name), `/portal/channels/${channel}/claim`, { ...materialOf(channel, "holder"), ...more }),
    ({ code, status }) => [status, code]
  )

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "a claim with the holder's proof for the account",
  (it) => {
    it.effect("takes the holder from an account that has none, and is taken by nobody", () =>
      Effect.gen(function* () {
        yield* ask(owner, "/me/channels", { channel, operator_pubkey: keyOf("operator") })
        for (const name of ["ada", "eve"])
          yield* ask(owner, `/me/channels/${channel}/allowlist`, { email: `${name}@people.example` })
        assert.deepStrictEqual(yield* claim("eve"), [200, undefined], "as the contract has it")
        assert.deepStrictEqual(yield* claim("ada"), [409, "HolderClaimedElsewhere"])
        for (const account_proof of [proofOf("holder", "eve"), proofOf("other", "ada"), "00".repeat(64)])
          assert.deepStrictEqual(yield* claim("ada", { account_proof }), [403, "ClaimProofRefused"])
        assert.deepStrictEqual(yield* claim("ada", { account_proof: "x" }), [400, "MalformedRequest"])
        const account_proof = proofOf("holder", "ada")
        assert.deepStrictEqual(yield* claim("ada", { account_proof }), [200, undefined])
        for (const more of [{}, { account_proof: proofOf("holder", "eve") }])
          assert.deepStrictEqual(yield* claim("eve", more), [409, "HolderClaimedElsewhere"])
        assert.deepStrictEqual(yield* claim("eve", { account_proof }), [403, "ClaimProofRefused"])
        assert.deepStrictEqual(yield* claim("ada"), [200, undefined], "without it again")
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`select subject, is_proved from channel_claims`, [
          { subject: "ada", isProved: true }
        ])
      })
    )
  }
)
