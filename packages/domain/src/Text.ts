/**
 * Text written by people and by other programs: one line, no control characters, no half of a surrogate pair, so that
 * every such text can be stored, logged and shown.
 */
import { Schema, SchemaGetter } from "effect"
import { form } from "./Form.ts"

const printable = (minimum: number, maximum: number) =>
  form(
    new RegExp(`^[^\\p{Cc}\\p{Cs}]{${minimum},${maximum}}$`, "u"),
    `${minimum} to ${maximum} characters without control characters`
  )

/** A line of at most `maximum` characters, kept as it is. */
export const line = (maximum: number, minimum = 1) => Schema.String.check(printable(minimum, maximum))

const edgesOf = /^[ \t]*((?:.*[^ \t])?)[ \t]*$/u

/** A line whose blanks at both ends do not count; what is left has 1 to `maximum` characters. */
export const label = (maximum: number) =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.String.check(
        form(
          new RegExp(`^(?![ \\t])[^\\p{Cc}\\p{Cs}]{1,${maximum}}(?<![ \\t])$`, "u"),
          `1 to ${maximum} characters without control characters`
        )
      ),
      {
        decode: SchemaGetter.transform((text: string) => edgesOf.exec(text)?.[1] ?? text),
        encode: SchemaGetter.passthrough()
      }
    )
  )
