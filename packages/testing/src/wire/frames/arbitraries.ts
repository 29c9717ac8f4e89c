/** Generators of the values that frames carry. */
import { Arbitrary, Schema } from "effect"
import { Dice } from "../dice.ts"

export const integer = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const u32 = integer(1, 0xffff_ffff)
export const u64 = Arbitrary.map(integer(0, 0x7fff_ffff), (seed) => new Dice(seed).bytes(8).readBigUInt64BE(0))
export const bool = Arbitrary.schema(Schema.Boolean)
export const literal = <const A extends string>(values: ReadonlyArray<A>) => Arbitrary.schema(Schema.Literals(values))

/** Exactly `length` bytes. */
export const bytes = (length: number): Arbitrary.Arbitrary<Uint8Array> =>
  Arbitrary.map(integer(0, 0x7fff_ffff), (seed) => Uint8Array.from(new Dice(seed).bytes(length)))

/** Any bytes, `least` to `most` of them. */
export const anyBytes = (least: number, most: number): Arbitrary.Arbitrary<Uint8Array> =>
  Arbitrary.map(Arbitrary.all([integer(0, 0x7fff_ffff), integer(least, most)]), ([seed, length]) =>
    Uint8Array.from(new Dice(seed).bytes(length))
  )

const word = Arbitrary.schema(Schema.String.check(Schema.isPattern(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)))

/** Host names in normal form. */
export const host = Arbitrary.map(Arbitrary.array(word, { minLength: 1, maxLength: 4 }), (labels) => labels.join("."))

/** Any text that UTF-8 can carry, up to `most` bytes. */
export const text = (most: number): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(Arbitrary.schema(Schema.String), (value) => {
    const bytes = Buffer.from(value.toWellFormed(), "utf8")
    return bytes.length <= most
      ? value.toWellFormed()
      : bytes
          .subarray(0, most)
          .toString("latin1")
          .replace(/[^ -~]/g, "")
  })

export const sentence = text(512)

/** The value, or its absence. */
export const maybe = <A>(value: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<A | undefined> =>
  Arbitrary.map(Arbitrary.all([bool, value]), ([present, value]) => (present ? value : undefined))

/** Without the keys whose value is `undefined`. */
export const present = <A extends object>(record: A): A =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as A
