/**
 * The hash chain of one tunnel on one edge (section 14.6): `seq` and `prev_hash` count per routing token, so an export of
 * one tunnel has no gaps. The tip is all an edge must keep to go on, also after a restart.
 */
import type { Redacted, Result } from "effect"
import type { NotCanonical } from "../Json.ts"
import type { Suite } from "../Suite.ts"
import * as Receipt from "./Receipt.ts"

/** Whose chain it is. */
export interface Chain {
  readonly edgeId: string
  /** `Tokens.hash` of the routing token. */
  readonly routingTokenHash: string
}

/** Where a chain stands: the last receipt's place. */
export type Tip = Pick<Receipt.Receipt, "seq" | "hash">

/** Where a chain begins. */
export const genesis: Tip = { seq: 0n, hash: Receipt.genesisHash }

/**
 * The receipt of an event, in the place behind the tip. It is the next tip.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as ReceiptChain from "@catenet/crypto/receipt/ReceiptChain"
 * import * as Receipt from "@catenet/crypto/receipt/Receipt"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x42))
 * const chain = { edgeId: "primary", routingTokenHash: "00".repeat(32) }
 * const open = Receipt.sessionOpen({ connectedAt: 1000n, transport: "quic" })
 * const first = Result.getOrThrow(ReceiptChain.append(portable, seed, chain, ReceiptChain.genesis, 1000n, open))
 * const second = Result.getOrThrow(ReceiptChain.append(portable, seed, chain, first, 2000n, open))
 * strictEqual(second.prevHash, first.hash)
 * ```
 */
export const append = (
  suite: Suite,
  edgeSeed: Redacted.Redacted<Uint8Array>,
  chain: Chain,
  tip: Tip,
  ts: bigint,
  event: Receipt.Event
): Result.Result<Receipt.Receipt, NotCanonical> =>
  Receipt.sign(suite, edgeSeed, { ...chain, ...event, seq: tip.seq + 1n, prevHash: tip.hash, ts })
