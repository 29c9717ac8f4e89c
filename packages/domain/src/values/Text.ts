/**
 * Text written by people and by other programs: one line, no control characters, no half of a surrogate pair, so that
 * every such text can be stored, logged and shown.
 */
import { Schema, SchemaGetter } from "effect"
import { describedAs, pattern } from "./Pattern.ts"

/** Control characters, and halves of surrogate pairs, as a part of a character class. */
const refused = "\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff"

const printable = (minimum: number, maximum: number) =>
  pattern(
    new RegExp(`^[^${refused}]{${minimum},${maximum}}$`, "u"),
    `${minimum} to ${maximum} characters without control characters`
  )

/**
 * A line of at most `maximum` characters, kept as it is.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { line } from "@catenet/domain/values/Text"
 *
 * if (Schema.is(line(10))("two\nlines")) throw new Error("one line only")
 * ```
 */
export const line = (maximum: number, minimum = 1) => Schema.String.check(printable(minimum, maximum))

/**
 * A line whose blanks at both ends do not count; what is left has 1 to `maximum` characters.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { label } from "@catenet/domain/values/Text"
 *
 * if (Schema.decodeUnknownSync(label(10))("  my laptop ") !== "my laptop") throw new Error("blanks do not count")
 * ```
 */
export const label = (maximum: number) => {
  const edge = `[^${refused} ]`
  const trimmed = new RegExp(`^${edge}(?:[^${refused}]{0,${maximum - 2}}${edge})?$`, "u")
  return Schema.String.check(described(maximum)).pipe(
    Schema.decodeTo(Schema.String.check(pattern(trimmed, `1 to ${maximum} characters without control characters`)), {
      decode: SchemaGetter.transform(withoutBlankEdges),
      encode: SchemaGetter.passthrough()
    })
  )
}

/** Blanks at the ends do not count, and are not sent back. */
const described = (maximum: number) =>
  describedAs<string>({
    minLength: 1,
    maxLength: maximum,
    pattern: "[^\\x00-\\x20\\x7f-\\x9f]",
    not: { pattern: "[\\x00-\\x1f\\x7f-\\x9f]" }
  })

const withoutBlankEdges = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text[start])) start++
  while (end > start && isBlank(text[end - 1])) end--
  return text.slice(start, end)
}

const isBlank = (character: string | undefined) => character === " " || character === "\t"
