/** The signed answer to a proposal (section 8.7): accepted, rejected or countered, over the hash of its text. */
import { Redacted, Schema } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"
import { holds } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"

const decisions = ["accept", "reject", "counter"] as const

const Signed = Schema.Struct({
  accepter: JsonField.Hex32,
  proposer: JsonField.Hex32,
  decision: Schema.Literals(decisions),
  proposalHash: JsonField.Hex32,
  requiresResponseBy: JsonField.U64,
  signature: JsonField.Hex64
}).pipe(
  Schema.encodeKeys({
    proposalHash: "proposal_hash",
    requiresResponseBy: "requires_response_by",
    signature: "accepter_sig"
  })
)

/** A signed answer. */
export type Acceptance = typeof Signed.Type

/** An answer before it is signed. */
export type Unsigned = Omit<Acceptance, "signature">

/** The answer as JSON. */
export const json = JsonField.form("acceptance", Signed)

/**
 * The hash that stands for a proposal's text.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Acceptance from "@catenet/crypto/market/Acceptance"
 * import { portable } from "@catenet/crypto/portable"
 *
 * strictEqual(Acceptance.hashProposal(portable, "use the second plan")[0], 0xfe)
 * ```
 */
export const hashProposal = (suite: Suite, proposal: string): Uint8Array => suite.sha256(Bytes.fromText(proposal))

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Acceptance from "@catenet/crypto/market/Acceptance"
 *
 * const id = new Uint8Array(32)
 * const answer = { accepter: id, proposer: id, decision: "accept", proposalHash: id, requiresResponseBy: 0n }
 * strictEqual(Acceptance.preimage(answer).length, 29 + 64 + 1 + 32 + 8)
 * ```
 */
export const preimage = (answer: Unsigned): Uint8Array =>
  Preimage.make(
    "ct-proposal-acceptance-v1",
    Preimage.fixed32(answer.accepter),
    Preimage.fixed32(answer.proposer),
    Integer.u8(decisions.indexOf(answer.decision)),
    Preimage.fixed32(answer.proposalHash),
    Integer.u64le(answer.requiresResponseBy)
  )

/**
 * Signs an answer; the accepter is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Acceptance from "@catenet/crypto/market/Acceptance"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x11))
 * const proposalHash = Acceptance.hashProposal(portable, "use the second plan")
 * const answer = { proposer: new Uint8Array(32), decision: "reject", proposalHash, requiresResponseBy: 5000n }
 * const signed = Acceptance.sign(portable, seed, answer)
 * ok(Acceptance.verify(portable, signed) && !Acceptance.verify(portable, { ...signed, decision: "accept" }))
 * ```
 */
export const sign = (
  suite: Suite,
  accepterSeed: Redacted.Redacted<Uint8Array>,
  answer: Omit<Unsigned, "accepter">
): Acceptance => {
  const seed = Redacted.value(accepterSeed)
  const unsigned = { ...answer, accepter: suite.ed25519.publicKey(seed) }
  return { ...unsigned, signature: suite.ed25519.sign(seed, preimage(unsigned)) }
}

/**
 * Whether the accepter signed this answer.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Acceptance from "@catenet/crypto/market/Acceptance"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const id = new Uint8Array(32)
 * const answer = { accepter: id, proposer: id, decision: "accept", proposalHash: id, requiresResponseBy: 0n }
 * ok(!Acceptance.verify(portable, { ...answer, signature: new Uint8Array(64).fill(1) }))
 * ```
 */
export const verify = (suite: Suite, answer: Acceptance): boolean =>
  holds(suite, answer.accepter, () => preimage(answer), answer.signature)
