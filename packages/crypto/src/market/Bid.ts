/** A bid for capacity (section 8.2), signed by the bidder. The price is the total, never per unit. */
import { Effect, type Redacted, Schema } from "effect"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"
import { define } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as MarketService from "./MarketService.ts"

const Signed = Schema.Struct({
  bidder: JsonField.Hex32,
  kind: MarketService.Kind,
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

const layout = define({
  domain: "ct-capacity-bid-v1",
  signer: "bidder",
  fields: {
    bidder: Preimage.fixed32,
    kind: MarketService.kindBytes,
    model: Preimage.text,
    units: Integer.u64le,
    totalPrice: Integer.u64le,
    issuedAt: Integer.u64le,
    expiresAt: Integer.u64le,
    termsAck: Preimage.fixed32,
    service: (service: MarketService.Service | null) => Preimage.optional(service, MarketService.bytes)
  }
})

/** The signed bytes. */
export const preimage: (bid: Unsigned) => Uint8Array = layout.preimage

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
export const sign: (suite: Suite, bidderSeed: Redacted.Redacted<Uint8Array>, terms: Omit<Unsigned, "bidder">) => Bid =
  layout.signed

/** Whether the bid is alive and signed by its bidder. */
export const verify: (suite: Suite, bid: Bid, now: Integer.Seconds) => boolean = layout.isValid
