/** The schemas of the document as generators of clients read them best: one object of keywords, and numbers as numbers. */
import { integerText } from "../values/Numbers.ts"
import { isRecord, type Members } from "./JsonMembers.ts"

/** The document's text of 2^64, whose shortest form as a double stands for another integer. */
const twoTo64 = { shortest: "18446744073709552000", exact: "18446744073709551616" }

const isPart = (part: unknown): part is Members => isRecord(part) && !("$ref" in part)

/** The keywords of all parts beside those of the schema, where no two say the same keyword. */
const flat = ({ allOf, ...own }: Members): Members => {
  if (!Array.isArray(allOf) || !allOf.every(isPart)) return allOf === undefined ? own : { ...own, allOf }
  const keys = [own, ...allOf].flatMap((part) => Object.keys(part))
  return new Set(keys).size === keys.length ? Object.assign({}, own, ...allOf) : { ...own, allOf }
}

const asInteger = ({ maximum, minimum }: Members) => ({ type: "integer", minimum, maximum })

/** A list with a meaning for each place; not every generator reads `items: false`, which says the same. */
const places = (list: Members, count: number) => ({ ...list, minItems: count, maxItems: count })

const changed = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(changed)
  if (!isRecord(node)) return node
  const whole: Members = Object.fromEntries(Object.entries(node).map(([name, each]) => [name, changed(each)]))
  if (Array.isArray(whole["prefixItems"])) return places(whole, whole["prefixItems"].length)
  return whole["format"] === integerText ? asInteger(whole) : flat(whole)
}

/**
 * The same OpenAPI document with schemas that are not nested without need.
 *
 * @example
 * ```ts
 * import { flattenSchemas } from "@catenet/domain/api/DescribedSchemas"
 *
 * const { mode } = flattenSchemas({ mode: { type: "string", allOf: [{ enum: ["on", "off"] }] } })
 * if (JSON.stringify(mode) !== '{"type":"string","enum":["on","off"]}') throw new Error("one object")
 * ```
 */
export const flattenSchemas = (spec: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).map(([name, part]) => [name, changed(part)]))

/**
 * The text of a document, with the bound of 64-bit integers as it is.
 *
 * @example
 * ```ts
 * import { textOf } from "@catenet/domain/api/DescribedSchemas"
 *
 * if (textOf({ below: 2 ** 64 }) !== '{"below":18446744073709551616}') throw new Error("every digit")
 * ```
 */
export const textOf = (document: object, indent?: number): string =>
  JSON.stringify(document, null, indent).replaceAll(twoTo64.shortest, twoTo64.exact)
