import * as Hex from "@catenet/crypto/Hex"
import * as Bid from "@catenet/crypto/market/Bid"
import * as MatchRef from "@catenet/crypto/market/MatchRef"
import * as Offer from "@catenet/crypto/market/Offer"
import type { Suite } from "@catenet/crypto/Suite"
import { commit, type Commitments, takes } from "@catenet/domain/agents/Matching"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { type Runners, sameHex, secret } from "./runner.ts"

const unsigned = "00".repeat(64)
const offerOf = (input: any) => Result.getOrThrow(Offer.json.fromJson(input))
const bidOf = (input: any) => Result.getOrThrow(Bid.json.fromJson(input))

/** What the two signatures and the domain's rule together make of an offer and a bid. */
const match = (suite: Suite, offer: Offer.Offer, bid: Bid.Bid, now: bigint): unknown => {
  if (!Offer.verify(suite, offer, now) || !Bid.verify(suite, bid, now)) return null
  const offered = {
    kind: offer.kind,
    models: offer.models,
    units_available: offer.unitsAvailable,
    min_price: offer.minPrice,
    expires_at: offer.expiresAt,
    services: offer.services
  }
  const wanted = {
    kind: bid.kind,
    model: bid.model,
    units: bid.units,
    total_price: bid.totalPrice,
    expires_at: bid.expiresAt,
    service: bid.service
  }
  if (!takes(offered, wanted, now)) return null
  const { kind, model, units, totalPrice } = bid
  const facts = { provider: offer.holder, consumer: bid.bidder, kind, model, units, totalPrice }
  const reference = MatchRef.ofMatch(suite, {
    ...facts,
    bidIssuedAt: bid.issuedAt,
    offerIssuedAt: offer.issuedAt
  })
  return {
    provider: Hex.encode(offer.holder),
    consumer: Hex.encode(bid.bidder),
    kind,
    model,
    units: Number(units),
    total_price: Number(totalPrice),
    match_ref: Hex.encode(reference)
  }
}

export const offerBidMatch: Runners = {
  "offer-bytes": ({ input, expect }) =>
    sameHex(Offer.preimage(offerOf({ ...input, signature: unsigned })), expect.bytes),
  "bid-bytes": ({ input, expect }) => sameHex(Bid.preimage(bidOf({ ...input, signature: unsigned })), expect.bytes),
  offer: ({ input, expect }, suite) => {
    const read = offerOf(expect.offer)
    const signed = Offer.sign(suite, secret(input.seed), read)
    assert.deepStrictEqual(signed, read)
    assert.strictEqual(Offer.json.write(signed), expect.json)
    assert.deepStrictEqual(Offer.json.parse(expect.json), Result.succeed(read))
  },
  bid: ({ input, expect }, suite) => {
    const read = bidOf(expect.bid)
    const signed = Bid.sign(suite, secret(input.seed), read)
    assert.deepStrictEqual(signed, read)
    assert.strictEqual(Bid.json.write(signed), expect.json)
    assert.deepStrictEqual(Bid.json.parse(expect.json), Result.succeed(read))
  },
  "verify-offer": ({ input, expect }, suite) =>
    assert.strictEqual(Offer.verify(suite, offerOf(input.offer), BigInt(input.now)), expect.valid),
  match: ({ input, expect }, suite) =>
    assert.deepStrictEqual(match(suite, offerOf(input.offer), bidOf(input.bid), BigInt(input.now)), expect.match),
  commitments: ({ input, expect }) => {
    let book: Commitments = new Map()
    input.steps.forEach(([name, units]: [string, number | string], i: number) => {
      const { signature, units_available } = input.offers[name]
      const offer = { signature, units_available: BigInt(units_available) }
      const next = commit(book, offer, BigInt(units))
      assert.strictEqual(next !== null, expect.accepted[i])
      book = next ?? book
      const remaining = offer.units_available - (book.get(signature) ?? 0n)
      assert.strictEqual(remaining, BigInt(expect.remaining_after[i]))
    })
  }
}
