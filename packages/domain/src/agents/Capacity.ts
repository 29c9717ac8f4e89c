/** Capacity offers, bids on them and the matches that follow; each is signed by the agent that makes it. */
import { Effect, Schema } from "effect"
import { Hex64 } from "../values/Hex.ts"
import { HolderKey, Signature } from "../values/Keys.ts"
import { Uint64 } from "../values/Numbers.ts"
import { Service } from "./Pipeline.ts"

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
