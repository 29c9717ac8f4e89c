/**
 * JSON text in which integers above 2^53-1 survive: they are read as `bigint` and written as digits.
 *
 * Everything else is as `JSON.parse` and `JSON.stringify` have it. The two language features that make it possible
 * (the source text given to a reviver, and `JSON.rawJSON`) are declared here because the standard types lack them.
 */
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"

declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown
    ): unknown
    rawJSON(text: string): unknown
  }
}

const integer = /^-?\d+$/u

/** What every integer above 2^53-1 has; to look at each value takes ten times as long as to read the text. */
const long = /\d{16}/u

/**
 * Reads JSON; throws `SyntaxError` as `JSON.parse` does.
 *
 * @example
 * ```ts
 * import * as JsonText from "@catenet/domain/values/JsonText"
 *
 * const [small, large] = JsonText.parse("[1, 9007199254740993]") as [unknown, unknown]
 * if (small !== 1 || large !== 9007199254740993n) throw new Error("large integers are bigint")
 * ```
 */
export const parse = (text: string): unknown =>
  long.test(text)
    ? JSON.parse(text, (_key, value, { source }) =>
        typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && integer.test(source)
          ? BigInt(source)
          : value
      )
    : JSON.parse(text)

/**
 * Writes compact JSON; a `bigint` becomes its digits.
 *
 * @example
 * ```ts
 * import * as JsonText from "@catenet/domain/values/JsonText"
 *
 * if (JsonText.stringify({ n: 2n ** 64n - 1n }) !== `{"n":18446744073709551615}`) throw new Error("digits were lost")
 * ```
 */
export const stringify = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? JSON.rawJSON(inner.toString()) : inner))

/** Any value that {@link parse} can give, from its text. */
const Value = Schema.String.pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: SchemaGetter.transformEffect((text: string) => {
      try {
        return Effect.succeed(parse(text))
      } catch {
        return Effect.fail(new SchemaIssue.InvalidValue({ message: notJson }))
      }
    }),
    encode: SchemaGetter.transform(stringify)
  })
)

/** The message of the issue for a text that is no JSON at all. */
export const notJson = "Expected a valid JSON body"

/**
 * A schema over JSON text, for a schema over JSON values that may hold large integers.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import * as JsonText from "@catenet/domain/values/JsonText"
 * import { Uint64 } from "@catenet/domain/values/Numbers"
 *
 * const read = Schema.decodeUnknownSync(JsonText.codec(Schema.Array(Uint64)))
 * if (read("[0,18446744073709551615]")[1] !== 2n ** 64n - 1n) throw new Error("read without loss")
 * ```
 */
export const codec = <S extends Schema.Top>(schema: S) => Value.pipe(Schema.decodeTo(schema))
