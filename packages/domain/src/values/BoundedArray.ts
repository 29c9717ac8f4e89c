/**
 * Lists whose length is checked before their elements: a body of two megabytes can hold a million invalid elements, and
 * reporting each takes seconds.
 *
 * Every list in a request is one of these.
 */
import { Schema } from "effect"
import { malformedText } from "./Pattern.ts"

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** Any list, its elements unseen. */
const list = Schema.declare(isList, { expected: "array", toCodecJson: () => undefined })

/**
 * A list of at most `maximum` elements, and at least `minimum`. One that is too long is malformed.
 *
 * @example
 * ```ts
 * import { Result, Schema } from "effect"
 * import { boundedArray } from "@catenet/domain/values/BoundedArray"
 *
 * const read = Schema.decodeUnknownResult(boundedArray(2, Schema.Int), { errors: "all" })
 * if (Result.isFailure(read([1, 2]))) throw new Error("two are not too many")
 * const refused = read(["x", "y", "z"])
 * if (Result.isSuccess(refused) || refused.failure.message !== "Expected at most 2 elements") throw new Error("one")
 * ```
 */
export const boundedArray = <S extends Schema.Top>(maximum: number, element: S, minimum = 0) =>
  list
    .check(
      Schema.isMaxLength(maximum, {
        expected: `at most ${maximum} elements`,
        [malformedText]: true,
        representation: {
          id: "@catenet/domain/boundedArray",
          payload: { maximum, minimum },
          schemas: [Schema.toEncoded(Schema.toCodecJson(element)).ast]
        },
        toJsonSchema: ({ schemas: [items = {}] }) => ({
          type: "array",
          items,
          ...(minimum > 0 && { minItems: minimum }),
          maxItems: maximum
        })
      })
    )
    .pipe(Schema.decodeTo(Schema.Array(element).check(Schema.isMinLength(minimum), Schema.isMaxLength(maximum))))

const isMap = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value)

/** Any object, its members unseen. */
const map = Schema.declare(isMap, { expected: "object", toCodecJson: () => undefined })

/**
 * An object of at most `maximum` members with keys of one form and values of another.
 *
 * @example
 * ```ts
 * import { Result, Schema } from "effect"
 * import { boundedRecord } from "@catenet/domain/values/BoundedArray"
 *
 * const read = Schema.decodeUnknownResult(boundedRecord(1, Schema.String, Schema.Int), { errors: "all" })
 * if (Result.isFailure(read({ a: 1 }))) throw new Error("one is not too many")
 * const refused = read({ a: "x", b: "y" })
 * if (Result.isSuccess(refused) || refused.failure.message !== "Expected at most 1 members") throw new Error("one")
 * ```
 */
export const boundedRecord = <K extends Schema.Record.Key, V extends Schema.Top>(maximum: number, key: K, value: V) =>
  map
    .check(
      Schema.isMaxProperties(maximum, {
        expected: `at most ${maximum} members`,
        [malformedText]: true,
        representation: {
          id: "@catenet/domain/boundedRecord",
          payload: { maximum },
          schemas: [Schema.toEncoded(Schema.toCodecJson(value)).ast]
        },
        toJsonSchema: ({ schemas: [additionalProperties = {}] }) => ({
          type: "object",
          additionalProperties,
          maxProperties: maximum
        })
      })
    )
    .pipe(Schema.decodeTo(Schema.Record(key, value).check(Schema.isMaxProperties(maximum))))
