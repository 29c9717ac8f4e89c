/**
 * Signed receipts of what an edge carried for a tunnel: metadata only, chained by hash, one chain an edge and tunnel.
 *
 * How a receipt is hashed, signed and verified is in `@catenet/crypto`; here is what its JSON looks like.
 */
import { Schema } from "effect"
import { EdgeId } from "../edges/EdgeNode.ts"
import { Hex64 } from "../values/Hex.ts"
import { PublicKey, Signature } from "../values/Keys.ts"
import { UnixSeconds } from "../values/Numbers.ts"

/** One receipt. An unknown kind is carried and verified like the others. */
export class Receipt extends Schema.Class<Receipt>("Receipt")({
  seq: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  prev_hash: Hex64,
  ts: UnixSeconds,
  edge_id: EdgeId,
  kind: Schema.String,
  routing_token_hash: Hex64,
  payload: Schema.Record(Schema.String, Schema.Union([Schema.Int, Schema.String])),
  hash: Hex64,
  sig: Signature
}) {}

/** First line of an export; `tunnel` is the display name. */
export class ReceiptHeader extends Schema.Class<ReceiptHeader>("ReceiptHeader")({
  pubkey: PublicKey,
  edge_id: EdgeId,
  tunnel: Schema.optionalKey(Schema.String)
}) {}

/** A page of receipts in ascending order, as an edge answers it. */
export class ReceiptPage extends Schema.Class<ReceiptPage>("ReceiptPage")({
  pubkey: PublicKey,
  edge_id: EdgeId,
  receipts: Schema.Array(Receipt)
}) {}

/** The key under which an edge signs receipts. */
export class ReceiptKey extends Schema.Class<ReceiptKey>("ReceiptKey")({
  alg: Schema.Literal("ed25519"),
  pubkey: PublicKey,
  edge_id: EdgeId
}) {}
