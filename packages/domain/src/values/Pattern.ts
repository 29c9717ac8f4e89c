/**
 * Text of a certain form. A text of another form is a malformed value; anything that is no text at all is a wrong shape.
 *
 * The two are refused with different statuses, so every textual noun takes its pattern from here: the mark that this
 * module leaves on the check is what the API reads when it chooses between them.
 */
import { type JsonSchema, Schema, type SchemaAST, type SchemaIssue, SchemaTransformation } from "effect"

// What the API description says of a pattern. Its readers are generators of clients in other languages: Go's RE2 knows no `\\u`,
// no halves of surrogate pairs and no repetition above 1000; JavaScript without the `u` flag counts an emoji as two; and the `$`
// of Python holds before a line break at the end. So lengths, characters and what must not be there are said apart.

/** A set of characters, repeated; the whole text. */
const ofOneSet = /^\^\[(\^?)((?:\\.|[^\]\\])+)\]\{(\d+)(?:,(\d+))?\}\$$/u

/** Most repetitions that RE2 takes. */
const maxRepetitions = 1000

/** The same characters in every dialect. A text on the wire has no halves of surrogate pairs. */
const spelled = (source: string) =>
  source
    .replaceAll("\\ud800-\\udfff", "")
    .replaceAll("\\p{Cs}", "")
    .replaceAll("\\p{Cc}", "\\x00-\\x1f\\x7f-\\x9f")
    .replaceAll(/\\u00([0-9a-f]{2})/gu, "\\x$1")
    .replaceAll(/\\u([0-9a-f]{4})/gu, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replaceAll("\\/", "/")
    .replaceAll(/(?<=\[[^\]\\]*)\[/gu, "\\[")

/** Python's `$` holds before a line break at the end too. */
const oneLine = { not: { pattern: "\\n" } }

/**
 * Keywords of JSON Schema for a text of this form.
 *
 * @example
 * ```ts
 * import { portable } from "@catenet/domain/values/Pattern"
 *
 * const { pattern, maxLength } = portable(/^[0-9a-f]{64}$/u)
 * if (pattern !== "^[0-9a-f]{64}$" || maxLength !== 64) throw new Error("digits")
 * const { not } = portable(/^[^\u0000-\u001f\ud800-\udfff]{1,9}$/u)
 * if (not?.pattern !== "[\\x00-\\x1f]") throw new Error("what no such text has")
 * ```
 */
export const portable = ({ source }: RegExp): PortablePattern => {
  const [, negated, set = "", from = "", to = from] = ofOneSet.exec(source) ?? []
  if (negated === undefined) return { pattern: spelled(source), ...oneLine }
  const lengths = { ...(Number(from) > 0 && { minLength: Number(from) }), maxLength: Number(to) }
  if (negated !== "") return { ...lengths, not: { pattern: `[${spelled(set)}]` } }
  if (from === to) return { ...lengths, pattern: source }
  const repeated = Number(to) > maxRepetitions ? "*" : `{${from},${to}}`
  return { ...lengths, pattern: `^[${spelled(set)}]${repeated}$`, ...oneLine }
}

interface PortablePattern {
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly not?: { readonly pattern: string }
}

/** The annotation on a check whose failure means "a text, but malformed". */
export const malformedText = "~catenet/malformedText"

/**
 * A check that a text has the form of `pattern`, which must carry the `u` flag. `expected` completes the sentence
 * "Expected ...". Generators draw from `sample` where that is quicker to draw from than the pattern and says the same.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { pattern } from "@catenet/domain/values/Pattern"
 *
 * const Digit = Schema.String.check(pattern(/^[0-9]$/u, "a digit"))
 * if (Schema.is(Digit)("x") || !Schema.is(Digit)("7")) throw new Error("only a digit is one")
 * ```
 */
export const pattern = (pattern: RegExp, expected: string, sample?: RegExp): SchemaAST.Filter<string> =>
  Schema.isPattern(pattern, {
    expected,
    [malformedText]: true,
    toJsonSchema: () => ({ ...portable(pattern) }),
    ...drawnFrom(sample)
  })

const drawnFrom = (sample: RegExp | undefined) =>
  sample && { arbitraryConstraint: { patterns: [{ source: sample.source, flags: sample.flags }] as const } }

/**
 * A check by a predicate where a pattern cannot say it; `sample` is a pattern whose texts mostly hold, for generators. `json` is
 * what the API description says of it.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { patternBy } from "@catenet/domain/values/Pattern"
 *
 * const Palindrome = Schema.String.check(patternBy((text) => text === [...text].reverse().join(""), "a palindrome"))
 * if (!Schema.is(Palindrome)("level")) throw new Error("it reads the same backwards")
 * ```
 */
export const patternBy = (
  holds: (text: string) => boolean,
  expected: string,
  sample?: RegExp,
  json?: JsonSchema.JsonSchema
): SchemaAST.Filter<string> =>
  Schema.makeFilter(holds, {
    expected,
    [malformedText]: true,
    ...(json !== undefined && { toJsonSchema: () => json }),
    ...drawnFrom(sample)
  })

/**
 * Refuses nothing; says in the API description what is decided behind a transformation, such as the length of a text without the
 * blanks around it.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { describedAs } from "@catenet/domain/values/Pattern"
 *
 * const Short = Schema.String.check(describedAs({ maxLength: 3 }))
 * if (!JSON.stringify(Schema.toJsonSchemaDocument(Short)).includes('"maxLength":3')) throw new Error("it is described")
 * ```
 */
export const describedAs = <T>(json: JsonSchema.JsonSchema): SchemaAST.Filter<T> =>
  Schema.makeFilter<T>(() => true, { toJsonSchema: () => json })

/**
 * One of a fixed list of words; another word is malformed rather than of the wrong type.
 *
 * @example
 * ```ts
 * import { Result, Schema } from "effect"
 * import { isMalformedOnly, literal } from "@catenet/domain/values/Pattern"
 *
 * const answer = Schema.decodeUnknownResult(literal(["yes", "no"]))("maybe")
 * if (!Result.isFailure(answer) || !isMalformedOnly(answer.failure.issue)) throw new Error("another word is malformed")
 * ```
 */
export const literal = <const Words extends ReadonlyArray<string>>(literals: Words) => {
  const member = Schema.Literals(literals)
  return Schema.String.check(
    Schema.makeFilter(Schema.is(member), {
      expected: `one of ${literals.join(", ")}`,
      toJsonSchema: () => ({ enum: [...literals] }),
      [malformedText]: true
    })
  ).pipe(Schema.decodeTo(member, SchemaTransformation.passthroughSupertype<Words[number], string>()))
}

/**
 * Whether an issue says only that texts were malformed: every leaf of it is the failure of a {@link pattern}.
 *
 * @example
 * ```ts
 * import { Result, Schema } from "effect"
 * import { isMalformedOnly } from "@catenet/domain/values/Pattern"
 * import { Hex64 } from "@catenet/domain/values/Hex"
 *
 * const malformed = (input: unknown) => {
 *   const answer = Schema.decodeUnknownResult(Hex64)(input)
 *   return Result.isFailure(answer) && isMalformedOnly(answer.failure.issue)
 * }
 * if (!malformed("abc")) throw new Error("a text, but not 64 digits")
 * if (malformed(42)) throw new Error("not even a text")
 * ```
 */
export const isMalformedOnly = (issue: SchemaIssue.Issue): boolean => {
  switch (issue._tag) {
    case "Filter":
      return issue.filter.annotations?.[malformedText] === true
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
