/** A capacity offer (section 8.1), signed by the holder who sells. It exists as JSON only; the signature covers the fields. */
import { Effect, type Redacted, Schema } from "effect"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"
import { define } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as MarketService from "./MarketService.ts"

const Signed = Schema.Struct({
  holder: JsonField.Hex32,
  kind: MarketService.Kind,
  models: Schema.Array(JsonField.Text),
  unitsAvailable: JsonField.U64,
  minPrice: JsonField.U64,
  currencyId: JsonField.Text,
  issuedAt: JsonField.U64,
  expiresAt: JsonField.U64,
  services: Schema.Array(MarketService.Service).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  signature: JsonField.Hex64
}).pipe(
  Schema.encodeKeys({
    holder: "holder_pubkey",
    unitsAvailable: "units_available",
    minPrice: "min_price",
    currencyId: "currency_id",
    issuedAt: "issued_at",
    expiresAt: "expires_at"
  })
)

/** A signed offer. */
export type Offer = typeof Signed.Type

/** An offer before it is signed. */
export type Unsigned = Omit<Offer, "signature">

/** The offer as JSON. A missing `services` reads as an empty list. */
export const json = JsonField.form("offer", Signed)

const layout = define({
  domain: "ct-capacity-offer-v1",
  signer: "holder",
  fields: {
    holder: Preimage.fixed32,
    kind: MarketService.kindBytes,
    models: Preimage.listOf(Preimage.text),
    unitsAvailable: Integer.u64le,
    minPrice: Integer.u64le,
    currencyId: Preimage.text,
    issuedAt: Integer.u64le,
    expiresAt: Integer.u64le,
    services: Preimage.listOf(MarketService.bytes)
  }
})

/** The signed bytes. */
export const preimage: (offer: Unsigned) => Uint8Array = layout.preimage

/**
 * Signs an offer; the holder is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Offer from "@catenet/crypto/market/Offer"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x77))
 * const sold = { kind: "LocalHardware", models: ["m"], unitsAvailable: 5n, minPrice: 10n, currencyId: "c", services: [] }
 * const offer = Offer.sign(portable, seed, { ...sold, issuedAt: 0n, expiresAt: 10n })
 * ok(Offer.verify(portable, offer, 9) && !Offer.verify(portable, { ...offer, unitsAvailable: 6n }, 9))
 * ```
 */
export const sign: (suite: Suite, holderSeed: Redacted.Redacted<Uint8Array>, terms: Omit<Unsigned, "holder">) => Offer =
  layout.signed

/** Whether the offer is alive and signed by its holder. */
export const verify: (suite: Suite, offer: Offer, now: Integer.Seconds) => boolean = layout.isValid
