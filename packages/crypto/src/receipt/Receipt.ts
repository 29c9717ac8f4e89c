/**
 * One tunnel receipt (section 14): an event that an edge reports, chained to the receipt before it by a hash and signed with the
 * edge's receipt key. The hash covers canonical JSON, so the line may be written in any key order.
 */
import { Redacted, Result, Schema } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Hex from "../Hex.ts"
import * as Json from "../Json.ts"
import type { NotCanonical } from "../Json.ts"
import * as JsonField from "../JsonField.ts"
import type { Suite } from "../Suite.ts"

const Payload = Schema.declare((value): value is { readonly [key: string]: Json.Json } => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  return Result.isSuccess(Json.canonical(Object.fromEntries(Object.entries(value))))
})

const Line = Schema.Struct({
  seq: JsonField.U64,
  prevHash: JsonField.Text,
  ts: JsonField.U64,
  edgeId: JsonField.Text,
  kind: JsonField.Text,
  routingTokenHash: JsonField.Text,
  payload: Payload,
  hash: JsonField.Text,
  sig: JsonField.Text
}).pipe(Schema.encodeKeys({ prevHash: "prev_hash", edgeId: "edge_id", routingTokenHash: "routing_token_hash" }))

/**
 * A receipt. Hashes and signature are kept as the text they came in: a link must match as text. Payloads hold integers
 * (`bigint`) and texts, never a fraction.
 */
export type Receipt = typeof Line.Type

/** What is hashed: all but the hash and the signature. */
export type Content = Omit<Receipt, "hash" | "sig">

/** What happened, before it has a place in a chain. */
export type Event = Pick<Receipt, "kind" | "payload">

/** The previous hash of a chain's first receipt. */
export const genesisHash = "0".repeat(64)

/** The receipt as one line of an export. */
export const json = JsonField.form("receipt", Line)

/**
 * The receipt hash: SHA-256 over the canonical JSON of its content. Fails only on a payload with a fraction or half a
 * surrogate pair.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Receipt from "@catenet/crypto/receipt/Receipt"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const place = { seq: 1n, prevHash: Receipt.genesisHash, ts: 1000n, edgeId: "primary", routingTokenHash: "00".repeat(32) }
 * const event = Receipt.sessionOpen({ connectedAt: 1000n, transport: "quic" })
 * strictEqual(Result.getOrThrow(Receipt.contentHash(portable, { ...place, ...event })).length, 32)
 * ```
 */
export const contentHash = (suite: Suite, content: Content): Result.Result<Uint8Array, Json.NotCanonical> => {
  const { edgeId, kind, payload, prevHash, routingTokenHash, seq, ts } = content
  const hashed = { edge_id: edgeId, kind, payload, prev_hash: prevHash, routing_token_hash: routingTokenHash, seq, ts }
  return Result.map(Json.canonical(hashed), (text) => suite.sha256(Bytes.fromText(text)))
}

/** Signs a content with the edge's receipt key. */
const sign = (
  suite: Suite,
  edgeSeed: Redacted.Redacted<Uint8Array>,
  content: Content
): Result.Result<Receipt, Json.NotCanonical> =>
  Result.map(contentHash(suite, content), (hash) => ({
    ...content,
    hash: Hex.encode(hash),
    sig: Hex.encode(suite.ed25519.sign(Redacted.value(edgeSeed), hash))
  }))

/**
 * A session began.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Receipt from "@catenet/crypto/receipt/Receipt"
 *
 * strictEqual(Receipt.sessionOpen({ connectedAt: 1000n, transport: "tcp-fallback" }).kind, "session_open")
 * ```
 */
export const sessionOpen = (of: { readonly connectedAt: bigint; readonly transport: string }): Event => ({
  kind: "session_open",
  payload: { connected_at: of.connectedAt, transport: of.transport }
})

/**
 * Bytes moved so far in a session; written hourly, only if something moved.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Receipt from "@catenet/crypto/receipt/Receipt"
 *
 * strictEqual(Receipt.bytesMoved({ connectedAt: 1000n, bytesIn: 100n, bytesOut: 40n }).kind, "bytes")
 * ```
 */
export const bytesMoved = (of: {
  readonly connectedAt: bigint
  readonly bytesIn: bigint
  readonly bytesOut: bigint
}): Event => ({
  kind: "bytes",
  payload: { bytes_in: of.bytesIn, bytes_out: of.bytesOut, connected_at: of.connectedAt }
})

/**
 * A session ended.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Receipt from "@catenet/crypto/receipt/Receipt"
 *
 * const times = { connectedAt: 1000n, disconnectedAt: 5000n }
 * strictEqual(Receipt.sessionClose({ ...times, bytesIn: 1n, bytesOut: 2n, reason: "removed" }).kind, "session_close")
 * ```
 */
export const sessionClose = (of: {
  readonly connectedAt: bigint
  readonly disconnectedAt: bigint
  readonly bytesIn: bigint
  readonly bytesOut: bigint
  readonly reason: string
}): Event => ({
  kind: "session_close",
  payload: {
    bytes_in: of.bytesIn,
    bytes_out: of.bytesOut,
    connected_at: of.connectedAt,
    disconnected_at: of.disconnectedAt,
    reason: of.reason
  }
})

/**
 * The hash chain of one tunnel on one edge (section 14.6): `seq` and `prev_hash` count per routing token, so an export of one
 * tunnel has no gaps. To continue, also after a restart, an edge needs only the tip.
 */
export interface Chain {
  readonly edgeId: string
  /** `Tokens.hash` of the routing token. */
  readonly routingTokenHash: string
}

/** The last receipt of a chain. */
export type Tip = Pick<Receipt, "seq" | "hash">

/** The tip of an empty chain. */
export const genesis: Tip = { seq: 0n, hash: genesisHash }

/**
 * The receipt of an event, following the tip. It is the next tip.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as Receipt from "@catenet/crypto/receipt/Receipt"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x42))
 * const chain = { edgeId: "primary", routingTokenHash: "00".repeat(32) }
 * const open = Receipt.sessionOpen({ connectedAt: 1000n, transport: "quic" })
 * const first = Result.getOrThrow(Receipt.append(portable, seed, chain, Receipt.genesis, 1000n, open))
 * const second = Result.getOrThrow(Receipt.append(portable, seed, chain, first, 2000n, open))
 * strictEqual(second.prevHash, first.hash)
 * ```
 */
export const append = (
  suite: Suite,
  edgeSeed: Redacted.Redacted<Uint8Array>,
  chain: Chain,
  tip: Tip,
  ts: bigint,
  event: Event
): Result.Result<Receipt, NotCanonical> =>
  sign(suite, edgeSeed, { ...chain, ...event, seq: tip.seq + 1n, prevHash: tip.hash, ts })
