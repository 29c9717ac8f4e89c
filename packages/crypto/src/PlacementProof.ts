/**
 * The proof with which a holder key agrees to be an account's agent in a topology, signed by that key itself.
 * It is not published: the reference implementation places agents without proof.
 */
import { Redacted } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { holds } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** Which agent an account places in which topology. */
export interface Placement {
  readonly topologyId: string
  /** The account that places it, by its subject in normal form. */
  readonly subject: string
  /** The agent: 32 bytes. */
  readonly holder: Uint8Array
}

/** A length of eight bytes as in `OperatorBinding`, then the UTF-8. */
const text = (value: string): Uint8Array => {
  const bytes = Bytes.fromText(value)
  return Preimage.join(Integer.u64le(BigInt(bytes.length)), bytes)
}

/**
 * The signed bytes: the domain, the topology, the account, the agent.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as PlacementProof from "@catenet/crypto/PlacementProof"
 *
 * const placement = { topologyId: "abc", subject: "ada", holder: new Uint8Array(32) }
 * strictEqual(PlacementProof.preimage(placement).length, 28 + 8 + 3 + 8 + 3 + 32)
 * ```
 */
export const preimage = ({ holder, subject, topologyId }: Placement): Uint8Array =>
  Preimage.make("ct-topology-placement-v1", text(topologyId), text(subject), Preimage.fixed32(holder))

/**
 * The 64-byte proof, made with the holder's seed.
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
export const sign = (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  place: Omit<Placement, "holder">
): Uint8Array => {
  const seed = Redacted.value(holderSeed)
  return suite.ed25519.sign(seed, preimage({ ...place, holder: suite.ed25519.publicKey(seed) }))
}

/**
 * Whether the holder key signed this placement.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as PlacementProof from "@catenet/crypto/PlacementProof"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const placement = { topologyId: "topology-abc", subject: "ada", holder: new Uint8Array(32) }
 * ok(!PlacementProof.verify(portable, placement, new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (suite: Suite, placement: Placement, proof: Uint8Array): boolean =>
  holds(suite, placement.holder, () => preimage(placement), proof)
