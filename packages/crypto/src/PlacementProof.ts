/**
 * The proof with which a holder key agrees to be an account's agent in a topology. It is not part of the published protocol: the
 * reference implementation places agents without a proof.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as PlacementProof from "@catenet/crypto/PlacementProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x11))
 * const holder = portable.ed25519.publicKey(Redacted.value(seed))
 * const proof = PlacementProof.sign(portable, seed, { topologyId: "topology-abc", subject: "ada" })
 * ok(PlacementProof.verify(portable, { topologyId: "topology-abc", subject: "ada", holder }, proof))
 * ```
 */
import * as Preimage from "./Preimage.ts"
import { define } from "./SignedRecord.ts"

const fields = {
  topologyId: Preimage.text64,
  /** The account that places the agent, by its subject in normal form. */
  subject: Preimage.text64,
  /** The agent: 32 bytes. */
  holder: Preimage.fixed32
}

export const { preimage, sign, verify } = define({ domain: "ct-topology-placement-v1", signer: "holder", fields })
