/** An e-mail address, its ASCII letters kept lower-case: 1 to 254 characters, one local part, a domain with an inner dot. */
import { Schema, SchemaGetter } from "effect"
import { lowerAscii } from "./AsciiCase.ts"
import { describedAs, patternBy, portable } from "./Pattern.ts"

const shape = /^[^\s@\p{Cc}\p{Cs}]+@[^\s@.\p{Cc}\p{Cs}]+(?:\.[^\s@.\p{Cc}\p{Cs}]+)+$/u

/** The same with the blanks of JavaScript's `\\s` one by one, as every reader of the API description understands it. */
const blank = "\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
const written = new RegExp(`^[^${blank}@\\p{Cc}]+@[^${blank}@.\\p{Cc}]+(?:\\.[^${blank}@.\\p{Cc}]+)+$`, "u")

const isEmail = (text: string): boolean => text.length <= 254 && text === lowerAscii(text) && shape.test(text)

const sample = /^[a-z0-9.+_-]{1,24}@(?:[a-z0-9-]{1,12}\.){1,3}[a-z]{2,6}$/u

/**
 * Reads any case of ASCII letters and blanks around it.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { Email } from "@catenet/domain/values/Email"
 *
 * const email = Schema.decodeUnknownSync(Email)("Ada@Example.Test")
 * if (email !== "ada@example.test") throw new Error("e-mail addresses are kept lower-case")
 * ```
 */
export const Email = Schema.String.check(
  describedAs({ format: "email", minLength: 5, maxLength: 254, ...portable(written) })
).pipe(
  Schema.decodeTo(Schema.String.check(patternBy(isEmail, "an e-mail address", sample)).pipe(Schema.brand("Email")), {
    decode: SchemaGetter.transform((text: string) => lowerAscii(text.trim())),
    encode: SchemaGetter.passthrough()
  })
)
export type Email = typeof Email.Type
