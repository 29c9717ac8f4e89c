/** The proof with which an operator key is bound to a topology (section 2), signed by that key itself. */
import { Redacted } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { holds } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** Which key is to be bound to which topology. */
export interface OperatorBinding {
  readonly topologyId: string
  /** 32 bytes. */
  readonly operator: Uint8Array
}

/**
 * The signed bytes. The length of the topology id takes eight bytes here, not the four of `Preimage.text`.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
 *
 * strictEqual(OperatorBinding.preimage({ topologyId: "abc", operator: new Uint8Array(32) }).length, 35 + 3 + 32)
 * ```
 */
export const preimage = (binding: OperatorBinding): Uint8Array => {
  const id = Bytes.fromText(binding.topologyId)
  return Preimage.make(
    "ct-topology-operator-v1",
    Integer.u64le(BigInt(id.length)),
    id,
    Preimage.fixed32(binding.operator)
  )
}

/**
 * The 64-byte proof for a topology, made with the operator's seed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x11))
 * const operator = portable.ed25519.publicKey(Redacted.value(seed))
 * const proof = OperatorBinding.sign(portable, seed, "topology-abc")
 * ok(OperatorBinding.verify(portable, { topologyId: "topology-abc", operator }, proof))
 * ```
 */
export const sign = (suite: Suite, operatorSeed: Redacted.Redacted<Uint8Array>, topologyId: string): Uint8Array => {
  const seed = Redacted.value(operatorSeed)
  return suite.ed25519.sign(seed, preimage({ topologyId, operator: suite.ed25519.publicKey(seed) }))
}

/**
 * Whether the operator key signed its own binding to this topology.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const binding = { topologyId: "topology-abc", operator: new Uint8Array(32) }
 * ok(!OperatorBinding.verify(portable, binding, new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (suite: Suite, binding: OperatorBinding, proof: Uint8Array): boolean =>
  holds(suite, binding.operator, () => preimage(binding), proof)
