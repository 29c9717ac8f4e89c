/**
 * The proof with which an operator key is bound to a topology (section 2), signed by that key itself.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x11))
 * const operator = portable.ed25519.publicKey(Redacted.value(seed))
 * const proof = OperatorBinding.sign(portable, seed, { topologyId: "topology-abc" })
 * ok(OperatorBinding.verify(portable, { topologyId: "topology-abc", operator }, proof))
 * ```
 */
import * as Preimage from "./Preimage.ts"
import { define, type Values } from "./SignedRecord.ts"

const fields = { topologyId: Preimage.text64, operator: Preimage.fixed32 }

/** Which key is to be bound to which topology. */
export type OperatorBinding = Values<typeof fields>

export const { preimage, sign, verify } = define({ domain: "ct-topology-operator-v1", signer: "operator", fields })
