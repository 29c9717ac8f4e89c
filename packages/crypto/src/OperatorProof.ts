/**
 * The proof that an account acts for the operator of channels, signed by the operator's key. It contains the account, so that no
 * other account can use it. It is not part of the published protocol: the reference implementation registers channels without a
 * proof.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as OperatorProof from "@catenet/crypto/OperatorProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const operator = portable.ed25519.publicKey(Redacted.value(seed))
 * const proof = OperatorProof.sign(portable, seed, { subject: "ada" })
 * ok(OperatorProof.verify(portable, { operator, subject: "ada" }, proof))
 * ```
 */
import * as Preimage from "./Preimage.ts"
import { define, type Values } from "./SignedRecord.ts"

const fields = {
  /** The operator's key: 32 bytes. */
  operator: Preimage.fixed32,
  /** The account, by its subject in normal form. */
  subject: Preimage.text
}

/** Which account acts for which operator. */
export type Operation = Values<typeof fields>

export const { sign, verify } = define({ domain: "ct-channel-operator-v1", signer: "operator", fields })
