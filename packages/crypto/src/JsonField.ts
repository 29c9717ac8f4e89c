/**
 * Fields of signed JSON records: hex bytes, 64-bit integers, text with a UTF-8 form. Derives a record's reader and writer from its
 * schema.
 */
import { Result, Schema, SchemaGetter } from "effect"
import * as Hex from "./Hex.ts"
import * as Integer from "./Integer.ts"
import * as Json from "./Json.ts"
import { Malformed } from "./SignedRecord.ts"

/** Text that has UTF-8 bytes: no half of a surrogate pair. */
export const Text = Schema.String.check(Schema.makeFilter((text) => text.isWellFormed() || "half a surrogate pair"))

/** Bytes of a fixed length, written as lowercase hex and read in either case. */
const hex = (length: number) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^[0-9a-fA-F]{${length * 2}}$`))).pipe(
    Schema.decodeTo(
      Schema.Uint8Array.check(Schema.makeFilter((bytes) => bytes.length === length || `${length} bytes`)),
      {
        decode: SchemaGetter.transform((text: string) => Result.getOrThrow(Hex.decode(text, length))),
        encode: SchemaGetter.transform((bytes: Uint8Array) => Hex.encode(bytes))
      }
    )
  )

/** A 32-byte key, id or digest as 64 hex. */
export const Hex32 = hex(32)

/** A 64-byte signature as 128 hex. */
export const Hex64 = hex(64)

/**
 * An unsigned 64-bit integer, read from a `bigint` or from a `number` that is exact, never from a rounded one.
 */
export const U64 = Schema.Union([Schema.BigInt, Schema.Int]).pipe(
  Schema.decodeTo(Schema.BigInt.check(Schema.makeFilter((value) => Integer.isU64(value) || "0..2^64-1")), {
    decode: SchemaGetter.transform((value: bigint | number) => BigInt(value)),
    encode: SchemaGetter.passthrough()
  })
)

const unsigned = (max: number) =>
  Schema.Union([Schema.BigInt, Schema.Int]).pipe(
    Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: max })), {
      decode: SchemaGetter.transform((value: bigint | number) => Number(value)),
      encode: SchemaGetter.transform((value: number) => BigInt(value))
    })
  )

/** An unsigned 16-bit integer, a `number` in the record. */
export const U16 = unsigned(0xffff)

/** An unsigned 32-bit integer, a `number` in the record. */
export const U32 = unsigned(0xffff_ffff)

/** A record's JSON form: from a parsed value or a text, and back. */
export interface JsonForm<A> {
  /** From a value parsed by `Json.parse`, or by the runtime if its integers are small enough to be exact. */
  readonly fromJson: (value: unknown) => Result.Result<A, Malformed>
  readonly parse: (text: string) => Result.Result<A, Malformed>
  readonly toJson: (record: A) => Json.Json
  /** Compact, keys in the written order of the specification. */
  readonly write: (record: A) => string
}

/**
 * The JSON form of a record from its schema. Unknown keys are ignored, as the specification requires.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result, Schema } from "effect"
 * import * as JsonField from "@catenet/crypto/JsonField"
 *
 * const form = JsonField.form("example", Schema.Struct({ at: JsonField.U64 }))
 * strictEqual(Result.getOrThrow(form.parse('{"at":18446744073709551615,"more":1}')).at, 18446744073709551615n)
 * ```
 */
export const form = <A, I extends Json.Json>(record: string, schema: Schema.Codec<A, I>): JsonForm<A> => {
  const decode = Schema.decodeUnknownResult(schema)
  const encode = Schema.encodeSync(schema)
  const fromJson = (value: unknown) =>
    Result.mapError(decode(value), (error) => new Malformed({ record, why: error.message }))
  return {
    fromJson,
    parse: (text) =>
      Result.match(Json.parse(text), {
        onSuccess: fromJson,
        onFailure: (error) => Result.fail(new Malformed({ record, why: error.message }))
      }),
    toJson: encode,
    write: (value) => Json.write(encode(value))
  }
}
