/** The language of a page: the one that its reader chose, else the first of the browser's that there is, else English. */
import { english, type Texts } from "../texts/English.ts"
import { german } from "../texts/German.ts"

const languages: ReadonlyMap<string, Texts> = new Map([
  ["en", english],
  ["de", german]
])

export type Language = "en" | "de"
export const names: ReadonlyArray<readonly [Language, string]> = [
  ["en", "English"],
  ["de", "Deutsch"]
]

/** Keeps the choice of a reader; it says nothing about anybody. */
export const languageCookie = "__Host-ct_language"

export const isLanguage = (text: string | undefined): text is Language => text === "en" || text === "de"

/** The weight of an entry such as `de;q=0.8`; a weight that cannot be read refuses the language. */
const entryOf = (entry: string) => {
  const [range = "", weight = "q=1"] = entry.split(";").map((part) => part.trim().toLowerCase())
  const q = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/u.exec(weight)?.[1]
  return { language: range.split("-")[0] ?? "", weight: q === undefined ? 0 : Number(q) }
}

/** The texts for a cookie's value and an `Accept-Language` header. */
export const textsFor = (chosen: string | undefined, accepted: string | undefined): Texts => {
  const own = languages.get(chosen ?? "")
  if (own !== undefined) return own
  const wanted = (accepted ?? "")
    .slice(0, 512)
    .split(",")
    .map(entryOf)
    .filter(({ language, weight }) => weight > 0 && languages.has(language))
    .toSorted((a, b) => b.weight - a.weight)
  return languages.get(wanted[0]?.language ?? "") ?? english
}
