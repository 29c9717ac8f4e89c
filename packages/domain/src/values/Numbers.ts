/**
 * The integers of the wire. Those that stay below 2^53 are numbers; those that may reach 2^64-1 are `bigint`, so that
 * no value is ever rounded (see `JsonText` for how they pass through JSON).
 */
import { Schema, SchemaGetter } from "effect"
import { describedAs, pattern } from "./Pattern.ts"

/** An integer from 0 to 2^53-1. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
export type Count = typeof Count.Type

/** The format of a text that is a whole number; the API description makes an integer of a parameter that has it. */
export const integerText = "integer-text"

/** A parameter is a text, and described as the number that it stands for. */
const digits = (minimum: number, maximum: number) =>
  Schema.String.check(
    pattern(/^(?:0|[1-9][0-9]{0,15})$/u, "a whole number"),
    describedAs({ format: integerText, minimum, maximum })
  )

const fromDigits = {
  decode: SchemaGetter.transform(Number),
  encode: SchemaGetter.transform(String)
}

/** A count written in decimal, as query strings hold it; without sign, blanks or leading zeros. */
export const CountFromText = digits(0, Number.MAX_SAFE_INTEGER).pipe(Schema.decodeTo(Count, fromDigits))

/**
 * A count in decimal between two bounds, both included.
 *
 * @example
 * ```ts
 * import { Result, Schema } from "effect"
 * import { countFromText } from "@catenet/domain/values/Numbers"
 *
 * const read = Schema.decodeUnknownResult(countFromText(1, 200))
 * if (Result.getOrThrow(read("20")) !== 20) throw new Error("decimal digits")
 * if (["0", "201", "1e2", " 7", "007"].some((text) => Result.isSuccess(read(text)))) throw new Error("and nothing else")
 * ```
 */
export const countFromText = (minimum: number, maximum: number) =>
  digits(minimum, maximum).pipe(
    Schema.decodeTo(Count, fromDigits),
    Schema.check(Schema.isBetween({ minimum, maximum }))
  )

/** Whole seconds since 1970-01-01T00:00:00Z, as the platform's own records hold them. */
export const UnixSeconds = Count.pipe(Schema.brand("UnixSeconds"))
export type UnixSeconds = typeof UnixSeconds.Type

/** A TCP or UDP port. */
export const Port = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65535 }))
export type Port = typeof Port.Type

/** The largest unsigned 64-bit integer. */
export const maxUint64 = 2n ** 64n - 1n

const Integer64 = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: maxUint64 }))

const documented = Schema.makeFilter((value: number) => value >= 0, {
  toJsonSchema: () => ({ type: "integer", minimum: 0, exclusiveMaximum: 2 ** 64, format: "uint64" })
})

/** The JSON value: exact as a number, or a `bigint` that `JsonText` has read. */
const wire = Schema.declare(
  (value): value is number | bigint => (Number.isSafeInteger(value) || typeof value === "bigint") && Number(value) >= 0,
  {
    expected: "an unsigned 64-bit integer",
    toCodecJson: () =>
      Schema.link<number | bigint>()(Schema.Finite.check(documented), {
        decode: SchemaGetter.passthrough(),
        encode: SchemaGetter.transform(Number)
      })
  }
)

/**
 * An unsigned 64-bit integer of a signed record. Its JSON value is a number up to 2^53-1 and a `bigint` above, which
 * only `JsonText` reads and writes; a number above 2^53-1 was rounded by its writer and is refused.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import * as JsonText from "@catenet/domain/values/JsonText"
 * import { Uint64 } from "@catenet/domain/values/Numbers"
 *
 * const codec = JsonText.codec(Schema.Struct({ units: Uint64 }))
 * const text = `{"units":18446744073709551615}`
 * const value = Schema.decodeUnknownSync(codec)(text)
 * if (value.units !== 18446744073709551615n) throw new Error("read without loss")
 * if (Schema.encodeSync(codec)(value) !== text) throw new Error("written without loss")
 * ```
 */
export const Uint64 = wire.pipe(
  Schema.decodeTo(Integer64, {
    decode: SchemaGetter.transform((value: number | bigint) => BigInt(value)),
    encode: SchemaGetter.transform((value: bigint) => (value <= Number.MAX_SAFE_INTEGER ? Number(value) : value))
  })
)
export type Uint64 = typeof Uint64.Type
