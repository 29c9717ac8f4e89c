/** The proofs with which agents of the tests redeem join and bootstrap tokens. */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { AgentId } from "@catenet/domain/enrollment/AgentStatus"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import type { BootstrapToken, JoinToken } from "@catenet/domain/values/Tokens"
import { Redacted, Schema } from "effect"
import { tokenBytes } from "../../src/runtime/TokenSecrets.ts"

const seed = Redacted.make(new Uint8Array(32).fill(7))
const pubkey = Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seed))))

export const redemption = (token: JoinToken, agent: string) => {
  const proof = Schema.decodeSync(Signature)(Hex.encode(Proof.prove(native, seed, tokenBytes(token))))
  return { payload: { token, agent: AgentId.make(agent), pubkey, proof } }
}

const other = Redacted.make(new Uint8Array(32).fill(8))

/** By one of two agents; `signed` is the token that its proof is over. */
export const bootstrapRedemption = (token: BootstrapToken, by: "one" | "another" = "one", signed = token) => {
  const own = by === "one" ? seed : other
  return {
    payload: {
      token,
      pubkey: Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(own)))),
      proof: Schema.decodeSync(Signature)(Hex.encode(Bootstrap.prove(native, own, tokenBytes(signed))))
    }
  }
}
