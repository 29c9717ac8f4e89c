/**
 * Text of a certain form. A text of another form is a malformed value; anything that is no text at all is a wrong shape.
 *
 * The two are refused with different statuses, so every textual noun takes its pattern from here: the mark that this
 * module leaves on the check is what the API reads when it chooses between them.
 */
import { Schema, type SchemaAST, type SchemaIssue, SchemaTransformation } from "effect"

/** The annotation on a check whose failure means "a text, but malformed". */
const mark = "~catenet/form"

/**
 * A check that a text has the form of `pattern`, which must carry the `u` flag. `expected` completes the sentence
 * "Expected ...".
 */
export const form = (pattern: RegExp, expected: string): SchemaAST.Filter<string> =>
  Schema.isPattern(pattern, { expected, [mark]: true })

/** A check by a predicate where a pattern cannot say it; `sample` is a pattern whose texts mostly hold, for generators. */
export const formBy = (holds: (text: string) => boolean, expected: string, sample?: RegExp): SchemaAST.Filter<string> =>
  Schema.makeFilter(holds, {
    expected,
    [mark]: true,
    ...(sample && { arbitraryConstraint: { patterns: [{ source: sample.source, flags: sample.flags }] } })
  })

/** One of a fixed list of words; another word is malformed rather than of the wrong type. */
export const word = <const Words extends ReadonlyArray<string>>(words: Words) => {
  const member = Schema.Literals(words)
  return Schema.String.check(
    Schema.makeFilter(Schema.is(member), {
      expected: `one of ${words.join(", ")}`,
      toJsonSchema: () => ({ enum: [...words] }),
      [mark]: true
    })
  ).pipe(Schema.decodeTo(member, SchemaTransformation.passthroughSupertype<Words[number], string>()))
}

/** Whether an issue says only that texts were malformed: every leaf of it is the failure of a {@link form}. */
export const isMalformedOnly = (issue: SchemaIssue.Issue): boolean => {
  switch (issue._tag) {
    case "Filter":
      return issue.filter.annotations?.[mark] === true
    case "Pointer":
    case "Encoding":
      return isMalformedOnly(issue.issue)
    case "Composite":
    case "AnyOf":
      return issue.issues.length > 0 && issue.issues.every(isMalformedOnly)
    default:
      return false
  }
}
