/** The language of a page: the one that its reader chose, else the first of the browser's that there is, else English. */
import { preferred } from "@catenet/platform/AcceptLanguage"
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

/** The texts for a cookie's value and an `Accept-Language` header. */
export const textsFor = (chosen: string | undefined, accepted: string | undefined): Texts => {
  const own = languages.get(chosen ?? "")
  if (own !== undefined) return own
  return preferred(accepted, ["en", "de"]) === "de" ? german : english
}
