/** A bid for capacity (section 8.2), signed by the bidder. The price is the total, never per unit. */
import { Effect, Redacted, Schema } from "effect"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"
import { alive, holds } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as Kind from "./Kind.ts"
import * as MarketService from "./MarketService.ts"

const Signed = Schema.Struct({
  bidder: JsonField.Hex32,
  kind: Kind.Kind,
  model: JsonField.Text,
  units: JsonField.U64,
  totalPrice: JsonField.U64,
  issuedAt: JsonField.U64,
  expiresAt: JsonField.U64,
  /** The digest of the terms acknowledged; 32 zero bytes for none. */
  termsAck: JsonField.Hex32,
  service: Schema.NullOr(MarketService.Service).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  signature: JsonField.Hex64
}).pipe(
  Schema.encodeKeys({
    totalPrice: "total_price",
    issuedAt: "issued_at",
    expiresAt: "expires_at",
    termsAck: "terms_ack"
  })
)

/** A signed bid. */
export type Bid = typeof Signed.Type

/** A bid before it is signed. */
export type Unsigned = Omit<Bid, "signature">

/** The bid as JSON. A missing `service` reads as `null`; `terms_ack` may not be missing. */
export const json = JsonField.form("bid", Signed)

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Bid from "@catenet/crypto/market/Bid"
 *
 * const wanted = { kind: "CloudApiQuota", model: "m", units: 5n, totalPrice: 500n, service: null }
 * const bid = { bidder: new Uint8Array(32), ...wanted, issuedAt: 7n, expiresAt: 9n, termsAck: new Uint8Array(32) }
 * strictEqual(Bid.preimage(bid).length, 125)
 * ```
 */
export const preimage = (bid: Unsigned): Uint8Array =>
  Preimage.make(
    "ct-capacity-bid-v1",
    Preimage.fixed32(bid.bidder),
    Kind.bytes(bid.kind),
    Preimage.text(bid.model),
    Integer.u64le(bid.units),
    Integer.u64le(bid.totalPrice),
    Integer.u64le(bid.issuedAt),
    Integer.u64le(bid.expiresAt),
    Preimage.fixed32(bid.termsAck),
    Preimage.optional(bid.service, MarketService.bytes)
  )

/**
 * Signs a bid; the bidder is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Bid from "@catenet/crypto/market/Bid"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x78))
 * const wanted = { kind: "CloudApiQuota", model: "m", units: 5n, totalPrice: 500n, service: "SafetyCheck" }
 * const times = { issuedAt: 7n, expiresAt: 9n, termsAck: new Uint8Array(32) }
 * const bid = Bid.sign(portable, seed, { ...wanted, ...times })
 * ok(Bid.verify(portable, bid, 8) && !Bid.verify(portable, { ...bid, service: null }, 8))
 * ```
 */
export const sign = (suite: Suite, bidderSeed: Redacted.Redacted<Uint8Array>, terms: Omit<Unsigned, "bidder">): Bid => {
  const seed = Redacted.value(bidderSeed)
  const bid = { ...terms, bidder: suite.ed25519.publicKey(seed) }
  return { ...bid, signature: suite.ed25519.sign(seed, preimage(bid)) }
}

/**
 * Whether the bid is alive and signed by its bidder.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Bid from "@catenet/crypto/market/Bid"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const wanted = { kind: "CloudApiQuota", model: "m", units: 5n, totalPrice: 500n, service: null }
 * const bid = { bidder: new Uint8Array(32), ...wanted, issuedAt: 7n, expiresAt: 9n, termsAck: new Uint8Array(32) }
 * ok(!Bid.verify(portable, { ...bid, signature: new Uint8Array(64).fill(1) }, 8))
 * ```
 */
export const verify = (suite: Suite, bid: Bid, now: Integer.Seconds): boolean =>
  alive(now, bid.expiresAt) && holds(suite, bid.bidder, () => preimage(bid), bid.signature)
