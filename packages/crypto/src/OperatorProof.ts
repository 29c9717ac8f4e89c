/**
 * The proof that an account acts for the operator of channels, signed by the operator's key. It names the account, so that
 * no other account can use it. It is not published: the reference implementation registers channels without proof.
 */
import { Redacted } from "effect"
import * as Preimage from "./Preimage.ts"
import { holds } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** Which account acts for which operator. */
export interface Operation {
  /** The account, by its subject in normal form. */
  readonly subject: string
  /** The operator's key: 32 bytes. */
  readonly operator: Uint8Array
}

const preimage = ({ operator, subject }: Operation): Uint8Array =>
  Preimage.make("ct-channel-operator-v1", Preimage.fixed32(operator), Preimage.text(subject))

/**
 * The 64-byte proof, made with the operator's seed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as OperatorProof from "@catenet/crypto/OperatorProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const operator = portable.ed25519.publicKey(Redacted.value(seed))
 * const proof = OperatorProof.sign(portable, seed, "ada")
 * ok(OperatorProof.verify(portable, { operator, subject: "ada" }, proof))
 * ```
 */
export const sign = (suite: Suite, operatorSeed: Redacted.Redacted<Uint8Array>, subject: string): Uint8Array => {
  const seed = Redacted.value(operatorSeed)
  return suite.ed25519.sign(seed, preimage({ operator: suite.ed25519.publicKey(seed), subject }))
}

/**
 * Whether the operator has signed for this account.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as OperatorProof from "@catenet/crypto/OperatorProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const operator = new Uint8Array(32).fill(1)
 * ok(!OperatorProof.verify(portable, { operator, subject: "ada" }, new Uint8Array(64)))
 * ```
 */
export const verify = (suite: Suite, operation: Operation, proof: Uint8Array): boolean =>
  holds(suite, operation.operator, () => preimage(operation), proof)
