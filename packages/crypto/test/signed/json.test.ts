/** Signed records that travel as JSON: a turned bit may change how a record is written, never what it says. */
import * as AgentCard from "@catenet/crypto/AgentCard"
import type { JsonForm } from "@catenet/crypto/JsonField"
import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
import * as Bid from "@catenet/crypto/market/Bid"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Redacted, Result } from "effect"
import * as any from "../arbitraries.ts"
import * as CompositionManifest from "../records/CompositionManifest.ts"
import { flipped, runs } from "../suite/arbitraries.ts"

const { text } = any
const seed = Redacted.make(new Uint8Array(32).fill(7))

/** A record that travels as JSON. A turned bit may only change how the same record is written. */
const jsonSuite = <A extends object, U>(
  name: string,
  values: Arbitrary.Arbitrary<U>,
  sign: (value: U) => A,
  { parse, write }: JsonForm<A>,
  verify: (record: A) => boolean
) => {
  it.prop(
    `${name} survives its JSON`,
    { value: values },
    ({ value }) => {
      const signed = sign(value)
      const read = Result.getOrThrow(parse(write(signed)))
      assert.deepStrictEqual(read, signed)
      assert.strictEqual(write(read), write(signed))
      assert.isTrue(verify(read))
    },
    runs
  )
  it.prop(
    `${name} with any bit turned is refused, or is the same record`,
    { value: values, bit: any.integer(0, 40_000) },
    ({ value, bit }) => {
      const written = new TextEncoder().encode(write(sign(value)))
      const damaged = parse(new TextDecoder().decode(flipped(written, bit)))
      if (Result.isFailure(damaged) || !verify(damaged.success)) return
      assert.strictEqual(write(damaged.success), new TextDecoder().decode(written))
    },
    runs
  )
  it.prop(
    `${name}: no text makes the reader throw`,
    { value: values, cut: any.integer(0, 4000), noise: text },
    ({ value, cut, noise }) => {
      const written = write(sign(value))
      assert.isTrue(Result.isFailure(parse(written.slice(0, cut % written.length))))
      parse(written.slice(0, cut % written.length) + noise + written.slice(cut % written.length))
      parse(noise)
    },
    runs
  )
}

describe("JSON records", () => {
  const alive = <A extends { readonly expiresAt: bigint }>(values: Arbitrary.Arbitrary<A>) =>
    Arbitrary.map(values, (value) => ({ ...value, expiresAt: value.expiresAt === 0n ? 1n : value.expiresAt }))
  jsonSuite(
    "an agent card",
    alive(any.cardClaims),
    (claims) => AgentCard.sign(native, seed, claims),
    AgentCard.json,
    (card) => AgentCard.verify(native, card, 0)
  )
  jsonSuite(
    "an offer",
    alive(any.offerTerms),
    (terms) => Offer.sign(native, seed, terms),
    Offer.json,
    (offer) => Offer.verify(native, offer, 0)
  )
  jsonSuite(
    "a bid",
    alive(any.bidTerms),
    (terms) => Bid.sign(native, seed, terms),
    Bid.json,
    (bid) => Bid.verify(native, bid, 0)
  )
  jsonSuite(
    "a service manifest",
    alive(any.manifest),
    (manifest) => ServiceManifest.sign(native, seed, manifest),
    ServiceManifest.json,
    (manifest) => ServiceManifest.verify(native, manifest, 0)
  )
  jsonSuite(
    "a composition",
    alive(any.composition),
    (composition) => CompositionManifest.sign(native, seed, composition),
    CompositionManifest.json,
    (composition) => CompositionManifest.verify(native, composition, 0)
  )
})
