/** Offers, bids and cards in which something was changed on the way: refused, or the same in other words. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as A2aCard from "../../src/A2aCard.ts"
import * as AgentCard from "../../src/AgentCard.ts"
import * as Json from "../../src/Json.ts"
import * as Bid from "../../src/market/Bid.ts"
import * as Offer from "../../src/market/Offer.ts"
import { native } from "../../src/native.ts"

/** How many of each; CT_MUTATED_OFFERS says another number. */
const most = Number(process.env["CT_MUTATED_OFFERS"] ?? 300)

const seed = Redacted.make(new Uint8Array(32).fill(7))
const times = { issuedAt: 1n, expiresAt: 4_000_000_000n }
const offer = Offer.sign(native, seed, {
  kind: "LocalHardware",
  models: ["m1", "µ"],
  unitsAvailable: 2n ** 64n - 1n,
  minPrice: 50n,
  currencyId: "€",
  services: ["SafetyCheck", { Custom: "Ray tracing" }],
  ...times
})
const bid = Bid.sign(native, seed, {
  kind: "CloudApiQuota",
  model: "m1",
  units: 5n,
  totalPrice: 500n,
  termsAck: new Uint8Array(32),
  service: { Custom: "Ray tracing" },
  ...times
})
const skills = [{ id: "shout", description: "Says a text in capitals", examples: ["hello"] }]
const card = AgentCard.sign(native, seed, {
  roleTags: ["writer", "critic"],
  skills,
  cells: [new Uint8Array(32).fill(1)],
  channels: [new Uint8Array(32).fill(2)],
  ...times
})
const about = { name: "Shouter", description: "Shouts", version: "1.0.0", url: "https://a.example/" }

/** What a reader makes of a text, if it accepts it at all. */
const read = <A>(parsed: Result.Result<A, unknown>, verifies: (value: A) => boolean): A | undefined =>
  Result.isSuccess(parsed) && verifies(parsed.success) ? parsed.success : undefined

const records = {
  offer: {
    text: Offer.json.write(offer),
    read: (text: string): unknown => read(Offer.json.parse(text), (each) => Offer.verify(native, each, 2n)),
    value: offer
  },
  bid: {
    text: Bid.json.write(bid),
    read: (text: string): unknown => read(Bid.json.parse(text), (each) => Bid.verify(native, each, 2n)),
    value: bid
  },
  card: {
    text: AgentCard.json.write(card),
    read: (text: string): unknown => read(AgentCard.json.parse(text), (each) => AgentCard.verify(native, each, 2)),
    value: card
  },
  "card that is an A2A card": {
    text: A2aCard.write(native, seed, card, about),
    read: (text: string): unknown =>
      read(Json.parse(text), (json) => A2aCard.holds(native, json)) === undefined
        ? undefined
        : read(AgentCard.json.parse(text), (each) => AgentCard.verify(native, each, 2)),
    value: card
  }
} as const

/** The same numbers in each run. */
const numbers = (start: number) => {
  let state = start
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
  next(1)
  return next
}

const mutatedBytes = (text: string, next: (below: number) => number): string => {
  const bytes = Buffer.from(text)
  const at = next(bytes.length)
  switch (next(5)) {
    case 0:
      bytes[at] = (bytes[at] ?? 0) ^ (1 << next(8))
      return bytes.toString()
    case 1:
      return bytes.subarray(0, at).toString()
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([next(256)]), bytes.subarray(at)]).toString()
    case 3:
      return Buffer.concat([bytes, bytes.subarray(at)]).toString()
    default:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + next(8))]).toString()
  }
}

const odd: ReadonlyArray<Json.Json> = ["", "x", 0n, -1n, 2n ** 64n, null, true, [], {}, [[]], "00".repeat(32), "ﬀ"]

/** Another value in the place of a member, no member, or one of other names. */
const mutatedMembers = (text: string, next: (below: number) => number): string => {
  const fields = Object.entries(Result.getOrThrow(Json.parse(text)) as Record<string, Json.Json>)
  const at = next(fields.length)
  const [name, value] = fields[at] ?? ["", null]
  const other = odd[next(odd.length)] ?? null
  const changed: ReadonlyArray<readonly [string, Json.Json]> = [
    [name, other],
    [name, Array.isArray(value) ? [...value, ...value] : typeof value === "bigint" ? value + 1n : other],
    [`${name}s`, value],
    ["__proto__", value]
  ]
  const rest = fields.filter((_, index) => index !== at)
  const extra = changed[next(changed.length + 1)]
  return Json.write(Object.fromEntries(extra === undefined ? rest : [...rest, extra]))
}

describe("what was changed on its way", () => {
  for (const [name, { read, text, value }] of Object.entries(records))
    it(`counts for no other ${name}, in ${most} ways`, () => {
      assert.deepStrictEqual(read(text), value)
      let refused = 0
      for (let n = 0; n < most; n++) {
        const next = numbers(n)
        const changed = n % 2 === 0 ? mutatedBytes(text, next) : mutatedMembers(text, next)
        const meant = read(changed)
        if (meant === undefined) refused++
        else assert.deepStrictEqual(meant, value, `mutation ${n}: ${changed}`)
      }
      assert.isAbove(refused, most * 0.8)
    })
})
