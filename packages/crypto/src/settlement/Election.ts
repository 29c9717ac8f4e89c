/** What the settlement nodes sign when they choose who writes the next block (section 8.7). Neither has a wire form. */
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"

/** A vote, signed by the voter. */
export interface Vote {
  readonly term: bigint
  readonly candidate: Uint8Array
  readonly voter: Uint8Array
}

/** A leader's attestation of its block, signed by the leader. */
export interface LeaderAttestation {
  readonly term: bigint
  readonly leader: Uint8Array
  readonly blockHash: Uint8Array
}

/**
 * The signed bytes of a vote.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Election from "@catenet/crypto/settlement/Election"
 *
 * const key = new Uint8Array(32)
 * strictEqual(Election.votePreimage({ term: 5n, candidate: key, voter: key }).length, 25 + 8 + 64)
 * ```
 */
export const votePreimage = ({ term, candidate, voter }: Vote): Uint8Array =>
  Preimage.make("ct-settlement-vote-v1", Integer.u64le(term), Preimage.fixed32(candidate), Preimage.fixed32(voter))

/**
 * The signed bytes of a leader's attestation.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Election from "@catenet/crypto/settlement/Election"
 *
 * const key = new Uint8Array(32)
 * strictEqual(Election.leaderPreimage({ term: 5n, leader: key, blockHash: key }).length, 33 + 8 + 64)
 * ```
 */
export const leaderPreimage = ({ term, leader, blockHash }: LeaderAttestation): Uint8Array =>
  Preimage.make(
    "ct-settlement-leader-block-v1",
    Integer.u64le(term),
    Preimage.fixed32(leader),
    Preimage.fixed32(blockHash)
  )
