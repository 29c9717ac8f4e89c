/** Generators of bytes, and the two suites that everything here runs over. */
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import { propertyRuns } from "@catenet/testing/runs"
import { Arbitrary, Schema } from "effect"

export const suites = { portable, native }

export const runs = { arbitrary: { runs: propertyRuns }, timeout: 600_000 }

export const integer = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

const toBytes = Arbitrary.map((values: Array<number>) => Uint8Array.from(values))

/** Exactly `length` bytes. */
export const bytes = (length: number): Arbitrary.Arbitrary<Uint8Array> =>
  toBytes(Arbitrary.array(integer(0, 255), { minLength: length, maxLength: length }))

/** Any bytes, few of them mostly. */
export const anyBytes = (maxLength = 300): Arbitrary.Arbitrary<Uint8Array> =>
  toBytes(Arbitrary.array(integer(0, 255), { maxLength }))

/** The same bytes with one bit turned. */
export const flipped = (whole: Uint8Array, bit: number): Uint8Array => {
  const copy = whole.slice()
  const at = (bit >>> 3) % whole.length
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7))
  return copy
}
