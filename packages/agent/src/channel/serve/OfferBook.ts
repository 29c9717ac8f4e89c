/**
 * This member's capacity offer: re-signed before it expires, with the units already promised. A bid signed before the newest
 * offer counts against the older one while that is valid.
 */
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import * as Bid from "@catenet/crypto/market/Bid"
import * as MatchRef from "@catenet/crypto/market/MatchRef"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import { bidLimit, type BidRates, countBid, noBids } from "@catenet/domain/agents/BidRate"
import { type Commitments, commit, takes } from "@catenet/domain/agents/Matching"
import type { Redacted } from "effect"
import { Result } from "effect"
import type { OfferTerms } from "../../settings/MemberSettings.ts"
import { type Caller, isObject, ToolFailed } from "../rpc/Tool.ts"

const termsOf = ({ expiresAt, kind, minPrice, models, services, unitsAvailable }: Offer.Offer) => ({
  kind,
  models,
  services,
  units_available: unitsAvailable,
  min_price: minPrice,
  expires_at: expiresAt
})

const wantsOf = ({ expiresAt, kind, model, service, totalPrice, units }: Bid.Bid) => ({
  kind,
  model,
  units,
  service,
  total_price: totalPrice,
  expires_at: expiresAt
})

/** An offer that was shown stays valid for a tenth of its lifetime, at most a minute: enough to bid on it. */
const restOf = (ttlSecs: number) => BigInt(Math.min(60, Math.floor(ttlSecs / 10)))

const refuse = (reason: string) => Result.fail(new ToolFailed({ reason }))

export class OfferBook {
  readonly #terms: OfferTerms
  readonly #holderKey: Redacted.Redacted<Uint8Array>
  #offer: Offer.Offer | undefined
  /** The previous offer, which is honored until it expires. */
  #older: Offer.Offer | undefined
  #promised: Commitments = new Map()
  #bids: BidRates = noBids

  constructor(terms: OfferTerms, holderKey: Redacted.Redacted<Uint8Array>) {
    this.#terms = terms
    this.#holderKey = holderKey
  }

  /** The offer to show now. Units promised by an expired offer are free again. */
  current(now: bigint): Offer.Offer {
    const { limit: _, ttlSecs, ...terms } = this.#terms
    if (this.#older !== undefined && now >= this.#older.expiresAt) {
      this.#forget(this.#older)
      this.#older = undefined
    }
    if (this.#offer !== undefined && now + restOf(ttlSecs) < this.#offer.expiresAt) return this.#offer
    if (this.#offer !== undefined && now < this.#offer.expiresAt) this.#older = this.#offer
    else if (this.#offer !== undefined) this.#forget(this.#offer)
    this.#offer = Offer.sign(native, this.#holderKey, { ...terms, issuedAt: now, expiresAt: now + BigInt(ttlSecs) })
    return this.#offer
  }

  #forget({ signature }: Offer.Offer) {
    const over = Hex.encode(signature)
    this.#promised = new Map([...this.#promised].filter(([each]) => each !== over))
  }

  /** The offer that a bid of this time is for. */
  #bidOn(issuedAt: bigint, now: bigint): Offer.Offer {
    const offer = this.current(now)
    return this.#older !== undefined && issuedAt < offer.issuedAt ? this.#older : offer
  }

  /** Promises units of an offer. Both that are valid sell the same units, once. */
  #promise(offer: Offer.Offer, units: bigint): boolean {
    const signature = Hex.encode(offer.signature)
    const elsewhere = [...this.#promised].reduce((sum, [other, each]) => (other === signature ? sum : sum + each), 0n)
    const promised = commit(this.#promised, { signature, units_available: offer.unitsAvailable - elsewhere }, units)
    if (promised !== null) this.#promised = promised
    return promised !== null
  }

  /** Accepts a bid, or says why not, in the order of signed-bytes.md 8.4. */
  bid(args: Json.Json, { noiseKey }: Caller, now: bigint): Result.Result<Json.Json, ToolFailed> {
    const given = isObject(args) ? args["bid"] : undefined
    if (given === undefined) return refuse("auction/bid wants a bid")
    const read = Bid.json.fromJson(given)
    if (Result.isFailure(read)) return refuse(`the bid cannot be read: ${read.failure.message}`)
    const bid = read.success
    if (!Bid.verify(native, bid, now)) return refuse("the bid's signature does not verify, or it has expired")
    const { bids, window } = this.#terms.limit
    const counted = countBid(this.#bids, Hex.encode(noiseKey), Number(now), { ...bidLimit, bids, window })
    if (counted === null) return refuse(`too many bids: ${bids} in ${window} s`)
    this.#bids = counted
    const offer = this.#bidOn(bid.issuedAt, now)
    if (!takes(termsOf(offer), wantsOf(bid), now)) return refuse("the bid does not clear this offer")
    if (!this.#promise(offer, bid.units)) return refuse("not enough units are left of this offer")
    return Result.succeed(matchOf(offer, bid))
  }
}

const matchOf = (offer: Offer.Offer, bid: Bid.Bid): Json.Json => {
  const { kind, model, totalPrice, units } = bid
  const facts = { provider: offer.holder, consumer: bid.bidder, kind, model, units, totalPrice }
  const reference = MatchRef.ofMatch(native, { ...facts, bidIssuedAt: bid.issuedAt, offerIssuedAt: offer.issuedAt })
  return {
    provider: Hex.encode(offer.holder),
    consumer: Hex.encode(bid.bidder),
    kind,
    model,
    units,
    total_price: totalPrice,
    match_ref: Hex.encode(reference)
  }
}
