/**
 * Whether an offer accepts a bid, and how much of an offer is already promised. The signatures of both are verified by
 * the caller.
 */
import { Effect, Schema } from "effect"
import { Hex64 } from "../values/Hex.ts"
import { HolderKey, Signature } from "../values/Keys.ts"
import { Uint64 } from "../values/Numbers.ts"
import { Service } from "./Pipeline.ts"
import { sameService } from "./PipelineMatching.ts"

// Capacity offers, bids on them and the matches that follow; each is signed by the agent that makes it.

/** What stands behind an offer. */
export const CapacityKind = Schema.Literals(["CloudApiQuota", "LocalHardware"])
export type CapacityKind = typeof CapacityKind.Type

/** `min_price` is the floor for any bid on it. An offer without services lists none. */
export class Offer extends Schema.Class<Offer>("Offer")({
  holder_pubkey: HolderKey,
  kind: CapacityKind,
  models: Schema.Array(Schema.String),
  units_available: Uint64,
  min_price: Uint64,
  currency_id: Schema.String,
  issued_at: Uint64,
  expires_at: Uint64,
  services: Schema.Array(Service).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  signature: Signature
}) {}

/** `total_price` is for all units together. `terms_ack` is zeros when no terms were acknowledged. */
export class Bid extends Schema.Class<Bid>("Bid")({
  bidder: HolderKey,
  kind: CapacityKind,
  model: Schema.String,
  units: Uint64,
  total_price: Uint64,
  issued_at: Uint64,
  expires_at: Uint64,
  terms_ack: Hex64,
  service: Schema.NullOr(Service).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  signature: Signature
}) {}

/** A bid that an offer took. `match_ref` is a hash over both. */
export class Match extends Schema.Class<Match>("Match")({
  provider: HolderKey,
  consumer: HolderKey,
  kind: CapacityKind,
  model: Schema.String,
  units: Uint64,
  total_price: Uint64,
  match_ref: Hex64
}) {}

/** What the terms of an offer and of a bid consist of. */
export type OfferTerms = Pick<Offer, "kind" | "models" | "units_available" | "min_price" | "expires_at" | "services">
export type BidTerms = Pick<Bid, "kind" | "model" | "units" | "total_price" | "expires_at" | "service">

/**
 * Whether the offer takes the bid at `now`. The price of a bid is for all its units together, and is compared with the floor as
 * it stands. A bid that names no service fits every offer; an offer that lists none fits only such bids.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { takes } from "@catenet/domain/agents/Matching"
 *
 * const offer = { kind: "LocalHardware", models: ["m"], units_available: 10n, min_price: 5n, expires_at: 100n, services: [] } as const
 * const bid = { kind: "LocalHardware", model: "m", units: 10n, total_price: 5n, expires_at: 100n, service: null } as const
 * assert.ok(takes(offer, bid, 99n))
 * assert.ok(!takes(offer, { ...bid, units: 11n }, 99n))
 * assert.ok(!takes(offer, bid, 100n))
 * ```
 */
export const takes = (offer: OfferTerms, bid: BidTerms, now: bigint): boolean => {
  const { service } = bid
  return (
    now < offer.expires_at &&
    now < bid.expires_at &&
    offer.kind === bid.kind &&
    offer.models.includes(bid.model) &&
    (service === null || offer.services.some((listed) => sameService(listed, service))) &&
    offer.units_available >= bid.units &&
    bid.total_price >= offer.min_price
  )
}

/** Units promised so far, by the signature of the offer. */
export type Commitments = ReadonlyMap<string, bigint>

/**
 * Promises units of an offer, which is identified by its signature. Null when it has not that many left.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { commit } from "@catenet/domain/agents/Matching"
 *
 * const offer = { signature: "s", units_available: 10n }
 * const book = commit(new Map(), offer, 6n)
 * assert.equal(book?.get("s"), 6n)
 * assert.equal(commit(book ?? new Map(), offer, 5n), null)
 * ```
 */
export const commit = (
  book: Commitments,
  offer: { readonly signature: string; readonly units_available: bigint },
  units: bigint
): Commitments | null => {
  const promised = (book.get(offer.signature) ?? 0n) + units
  return promised > offer.units_available ? null : new Map(book).set(offer.signature, promised)
}
