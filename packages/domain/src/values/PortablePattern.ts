/**
 * What the API description says of a pattern. Its readers are generators of clients in other languages: Go's RE2 knows no `\\u`,
 * no halves of surrogate pairs and no repetition above 1000; JavaScript without the `u` flag counts an emoji as two; and the `$`
 * of Python holds before a line break at the end. So lengths, characters and what must not be there are said apart.
 */

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
 * import { portable } from "@catenet/domain/values/PortablePattern"
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

export interface PortablePattern {
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly not?: { readonly pattern: string }
}
