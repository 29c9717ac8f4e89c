/** What a serving member offers, sells and refuses. */
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as Bid from "@catenet/crypto/market/Bid"
import * as MatchRef from "@catenet/crypto/market/MatchRef"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { servicesOf } from "../../src/channel/serve/MemberTools.ts"
import { OfferBook } from "../../src/channel/serve/OfferBook.ts"
import type { OfferTerms } from "../../src/settings/MemberSettings.ts"

const holder = Redacted.make(new Uint8Array(32).fill(1))
const bidder = Redacted.make(new Uint8Array(32).fill(2))
const terms: OfferTerms = {
  kind: "LocalHardware",
  models: ["m"],
  unitsAvailable: 10n,
  minPrice: 5n,
  currencyId: "eur",
  services: ["TextGeneration"],
  ttlSecs: 100,
  limit: { bids: 3, window: 60 }
}
const bid = (more: Partial<Bid.Bid> = {}) =>
  Bid.json.toJson(
    Bid.sign(native, bidder, {
      kind: "LocalHardware",
      model: "m",
      units: 4n,
      totalPrice: 5n,
      issuedAt: 1000n,
      expiresAt: 2000n,
      termsAck: new Uint8Array(32),
      service: null,
      ...more
    })
  )
const caller = { noiseKey: new Uint8Array(32).fill(3), rights: "rw" as const }

describe("an offer", () => {
  const book = (more: Partial<OfferTerms> = {}) => new OfferBook({ ...terms, ...more }, holder)
  const refusal = (result: ReturnType<OfferBook["bid"]>) => Result.getOrThrow(Result.flip(result)).message

  it("is the same for most of its time, and signed anew before it expires", () => {
    const offers = book()
    const first = offers.current(1000n)
    assert.isTrue(Offer.verify(native, first, 1099n))
    assert.strictEqual(offers.current(1089n), first)
    const second = offers.current(1090n)
    assert.isTrue(Offer.verify(native, second, 1189n))
    assert.notDeepEqual(second.signature, first.signature)
    const long = book({ ttlSecs: 86_400 })
    const day = long.current(0n)
    assert.strictEqual(long.current(86_339n), day)
    assert.notStrictEqual(long.current(86_340n), day)
    const brief = book({ ttlSecs: 1 })
    assert.strictEqual(brief.current(1000n).expiresAt, 1001n)
    assert.isTrue(Offer.verify(native, brief.current(1001n), 1001n))
  })

  it("promises no more units than it has", () => {
    const offers = book()
    const match = Result.getOrThrow(offers.bid({ bid: bid() }, caller, 1000n))
    assert.include(match as object, { units: 4n, total_price: 5n, kind: "LocalHardware", model: "m" })
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid({ units: 6n }) }, caller, 1000n)))
    assert.include(refusal(offers.bid({ bid: bid({ units: 1n }) }, caller, 1000n)), "units")
  })

  it("sells its units once while the one before is valid too, to each bid by the offer that its bidder saw", () => {
    const offers = book({ limit: { bids: 60, window: 60 } })
    const first = offers.current(1000n)
    const second = offers.current(1095n)
    const referenceOf = (issuedAt: bigint, units: bigint, offer: Offer.Offer) => {
      const {
        bidder: consumer,
        kind,
        model,
        totalPrice
      } = Result.getOrThrow(Bid.json.fromJson(bid({ issuedAt, units })))
      const facts = { provider: offer.holder, consumer, kind, model, units, totalPrice }
      return Hex.encode(MatchRef.ofMatch(native, { ...facts, bidIssuedAt: issuedAt, offerIssuedAt: offer.issuedAt }))
    }
    const taken = (issuedAt: bigint, units: bigint, now: bigint) =>
      Result.getOrThrow(offers.bid({ bid: bid({ issuedAt, units }) }, caller, now))
    assert.include(taken(1094n, 3n, 1096n) as object, { match_ref: referenceOf(1094n, 3n, first) })
    assert.include(taken(1095n, 3n, 1096n) as object, { match_ref: referenceOf(1095n, 3n, second) })
    assert.include(refusal(offers.bid({ bid: bid({ issuedAt: 1096n, units: 5n }) }, caller, 1099n)), "units")
    // What was promised of the first is over with it.
    assert.include(taken(1096n, 7n, 1100n) as object, { match_ref: referenceOf(1096n, 7n, second) })
    assert.include(refusal(offers.bid({ bid: bid({ issuedAt: 1096n, units: 1n }) }, caller, 1100n)), "units")
  })

  it("takes the contract's sixty bids of a consumer in a window of sixty seconds, and not one more", () => {
    const offers = book({ unitsAvailable: 1_000n, limit: { bids: 60, window: 60 }, ttlSecs: 86_400 })
    const other = { noiseKey: new Uint8Array(32), rights: "rw" as const }
    const bids = (from: typeof caller, count: number, now: bigint) =>
      Array.from({ length: count }, () => offers.bid({ bid: bid({ units: 1n }) }, from, now)).map(Result.isSuccess)
    // 1019 is the last second of its window, and 1020 the first of the next one.
    assert.deepStrictEqual(new Set(bids(caller, 60, 1019n)), new Set([true]))
    assert.include(refusal(offers.bid({ bid: bid({ units: 1n }) }, caller, 1019n)), "too many bids: 60 in 60 s")
    assert.deepStrictEqual(bids(other, 1, 1019n), [true])
    assert.deepStrictEqual(new Set(bids(caller, 60, 1020n)), new Set([true]))
    assert.deepStrictEqual([...bids(caller, 1, 1079n), ...bids(caller, 1, 1080n)], [false, true])
    const endless = book({ unitsAvailable: 1_000n, limit: { bids: 2, window: 0 } })
    const ever = [1000n, 1500n, 1999n].map((now) => Result.isSuccess(endless.bid({ bid: bid() }, caller, now)))
    assert.deepStrictEqual(ever, [true, true, false])
    const none = book({ limit: { bids: 0, window: 60 } })
    assert.include(refusal(none.bid({ bid: bid() }, caller, 1000n)), "too many bids")
  })

  it("refuses bids in the order of the specification", () => {
    const offers = book({ limit: { bids: 1, window: 60 } })
    const say = (args: Parameters<OfferBook["bid"]>[0], now = 1000n) => refusal(offers.bid(args, caller, now))
    assert.include(say({}), "wants a bid")
    assert.include(say({ bid: {} }), "cannot be read")
    assert.include(say({ bid: { ...(bid() as object), units: 9n } }), "does not verify")
    assert.include(say({ bid: bid() }, 2000n), "has expired")
    assert.include(say({ bid: bid({ totalPrice: 4n }) }), "does not clear")
    assert.include(say({ bid: bid() }), "too many bids")
    const other = { noiseKey: new Uint8Array(32), rights: "rw" as const }
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid() }, other, 1000n)))
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid() }, caller, 1060n)))
    assert.strictEqual(
      Hex.encode(offers.current(1060n).holder),
      Hex.encode(native.ed25519.publicKey(Redacted.value(holder)))
    )
  })

  it("takes no bid that was changed on its way, and promises nothing for one", () => {
    const offers = book({ limit: { bids: 5_000, window: 60 } })
    const text = Json.write(bid({ units: 1n, service: "TextGeneration" }))
    const most = Number(process.env["CT_MUTATED_OFFERS"] ?? 300)
    for (let n = 0; n < most; n++) {
      const at = (n * 7) % text.length
      const changed = [
        `${text.slice(0, at)}${String.fromCharCode((text.charCodeAt(at) ^ (1 << (n % 5))) & 0x7f)}${text.slice(at + 1)}`,
        text.slice(0, at),
        `${text.slice(0, at)}${text.slice(at + 1 + (n % 3))}`
      ][n % 3]
      const parsed = Json.parse(changed ?? "")
      // A hex digit in upper case is the same digit.
      if (Result.isFailure(parsed) || changed?.toLowerCase() === text.toLowerCase()) continue
      assert.isTrue(Result.isFailure(offers.bid({ bid: parsed.success }, caller, 1000n)), changed)
    }
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid({ units: 10n }) }, caller, 1000n)))
  })

  it("is a ceiling for the services", () => {
    const services = ["TextGeneration", { Custom: "My Tool" }, { Custom: "" }] as const
    assert.deepStrictEqual(servicesOf({ offer: undefined, services }), {
      served: ["text_generation", "my_tool"],
      refused: []
    })
    assert.deepStrictEqual(servicesOf({ offer: terms, services }), {
      served: ["text_generation"],
      refused: ["my_tool"]
    })
    assert.deepStrictEqual(servicesOf({ offer: terms, services: undefined }), {
      served: ["text_generation"],
      refused: []
    })
    assert.deepStrictEqual(servicesOf({ offer: undefined, services: undefined }), { served: [], refused: [] })
  })
})
