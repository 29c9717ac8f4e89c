/** The languages that a reader would have, of those that there are. */

/** So much of the header is read. */
const maxCharacters = 512

/** The weight of an entry such as `de;q=0.8`; a weight that cannot be read refuses the language. */
const entryOf = (entry: string) => {
  const [range = "", weight = "q=1"] = entry.split(";").map((part) => part.trim().toLowerCase())
  const q = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/u.exec(weight)?.[1]
  return { language: range.split("-")[0] ?? "", weight: q === undefined ? 0 : Number(q) }
}

/**
 * The first that an `Accept-Language` header (RFC 9110 section 12.5.4) wants of these, regions left aside; undefined where it
 * wants none of them.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { preferred } from "@catenet/platform/AcceptLanguage"
 *
 * assert.equal(preferred("fr, en;q=0.4, de-AT;q=0.9", ["en", "de"]), "de")
 * assert.equal(preferred("de;q=0, fr", ["en", "de"]), undefined)
 * ```
 */
export const preferred = <L extends string>(
  accepted: string | undefined,
  languages: ReadonlyArray<L>
): L | undefined => {
  const [first] = (accepted ?? "")
    .slice(0, maxCharacters)
    .split(",")
    .map(entryOf)
    .filter(({ weight }) => weight > 0)
    .flatMap(({ language, weight }) => {
      const known = languages.find((each) => each === language)
      return known === undefined ? [] : [{ known, weight }]
    })
    .toSorted((a, b) => b.weight - a.weight)
  return first?.known
}
