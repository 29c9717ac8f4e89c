/** What every page keeps: its language, one heading, labels, nothing inline, nothing from elsewhere. */

import { englishOn } from "./EnglishWords.ts"

/** Shares and sizes with the decimal sign of another language. */
export const misread = (text: string, { language }: { readonly language: string }): ReadonlyArray<string> =>
  text.match(language === "de" ? /\b\d+\.\d+ (?:%|[KMGTPE]iB)/gu : /\b\d+,\d+ (?:%|[KMGTPE]iB)/gu) ?? []

/** What is wrong with the HTML of a page. */
export const faults = (text: string, { language }: { readonly language: string }): ReadonlyArray<string> => {
  const ids = [...text.matchAll(/ id="([^"]+)"/gu)].map(([, id]) => id ?? "")
  const count = (pattern: RegExp) => [...text.matchAll(pattern)].length
  const levels = [...text.matchAll(/<h([1-6])[ >]/gu)].map(([, level]) => Number(level))
  const labelled = new Set([...text.matchAll(/<label for="([^"]+)"/gu)].map(([, id]) => id ?? ""))
  const controls = [
    ...text.matchAll(/<(?:input|select|textarea)\b(?![^>]*type="(?:hidden|checkbox|radio|file)")[^>]*>/gu)
  ]
  return [
    ...(text.startsWith(`<!doctype html>\n<html lang="${language}">`) ? [] : ["no language"]),
    ...misread(text, { language }).map((figure) => `decimal sign: ${figure}`),
    ...(language === "de" ? englishOn(text).map((line) => `English: ${line}`) : []),
    // So that what finds English is known to find it.
    ...(language === "en" && englishOn(text).length === 0 ? ["no English"] : []),
    ...(count(/<h1[ >]/gu) === 1 ? [] : ["not one first heading"]),
    ...(levels.some((level, index) => index > 0 && level > (levels[index - 1] ?? 0) + 1)
      ? ["a level is left out"]
      : []),
    ...(count(/<main[ >]/gu) === 1 ? [] : ["not one main part"]),
    ...(/<title>[^<]{3,} · Catenet<\/title>/u.test(text) ? [] : ["no title"]),
    ...(ids.length === new Set(ids).size ? [] : ["an id twice"]),
    ...(/ on[a-z]+="| style="|<style|<script(?![^>]* src="\/portal\/static\/)/u.test(text) ? ["something inline"] : []),
    ...(/(?:src|action)="(?:https?:)?\/\/(?!zone|[a-z0-9-]+\.zone)/u.test(text) ? ["another origin"] : []),
    ...(/undefined|\[object |NaN/u.test(text) ? ["something unwritten"] : []),
    ...controls.flatMap(([control]) => {
      const id = / id="([^"]+)"/u.exec(control)?.[1]
      return id !== undefined && labelled.has(id) ? [] : [`no label: ${control}`]
    }),
    ...[...text.matchAll(/ aria-(?:describedby|labelledby)="([^"]+)"/gu)].flatMap(([, named]) =>
      (named ?? "").split(" ").flatMap((id) => (ids.includes(id) ? [] : [`no element ${id}`]))
    )
  ]
}
