/** A capacity offer (section 8.1), signed by the holder who sells. It exists as JSON only; the signature covers the fields. */
import { Effect, Redacted, Schema } from "effect"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"
import { alive, holds } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as Kind from "./Kind.ts"
import * as MarketService from "./MarketService.ts"

const Signed = Schema.Struct({
  holder: JsonField.Hex32,
  kind: Kind.Kind,
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

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Offer from "@catenet/crypto/market/Offer"
 *
 * const sold = { kind: "LocalHardware", models: ["m"], unitsAvailable: 5n, minPrice: 10n, currencyId: "c", services: [] }
 * const offer = { holder: new Uint8Array(32), ...sold, issuedAt: 0n, expiresAt: 10n }
 * strictEqual(Offer.preimage(offer).length, 24 + 32 + 1 + 9 + 16 + 5 + 16 + 4)
 * ```
 */
export const preimage = (offer: Unsigned): Uint8Array =>
  Preimage.make(
    "ct-capacity-offer-v1",
    Preimage.fixed32(offer.holder),
    Kind.bytes(offer.kind),
    Preimage.list(offer.models, Preimage.text),
    Integer.u64le(offer.unitsAvailable),
    Integer.u64le(offer.minPrice),
    Preimage.text(offer.currencyId),
    Integer.u64le(offer.issuedAt),
    Integer.u64le(offer.expiresAt),
    Preimage.list(offer.services, MarketService.bytes)
  )

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
export const sign = (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  terms: Omit<Unsigned, "holder">
): Offer => {
  const seed = Redacted.value(holderSeed)
  const offer = { ...terms, holder: suite.ed25519.publicKey(seed) }
  return { ...offer, signature: suite.ed25519.sign(seed, preimage(offer)) }
}

/**
 * Whether the offer is alive and signed by its holder.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Offer from "@catenet/crypto/market/Offer"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const text = `{"holder_pubkey":"${"00".repeat(32)}","kind":"LocalHardware","models":[],"units_available":1,"min_price":1,
 *   "currency_id":"c","issued_at":0,"expires_at":10,"signature":"${"01".repeat(64)}"}`
 * ok(!Offer.verify(portable, Result.getOrThrow(Offer.json.parse(text)), 9))
 * ```
 */
export const verify = (suite: Suite, offer: Offer, now: Integer.Seconds): boolean =>
  alive(now, offer.expiresAt) && holds(suite, offer.holder, () => preimage(offer), offer.signature)
