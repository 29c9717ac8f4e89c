/** Finds English on a page that should have none. */

/** Words of English prose that are no words of German. */
const words =
  /\b(?:the|and|is|are|your|you|with|this|that|does|has|have|had|from|there|which|cannot|not|no|to|for|by|it|its|of|be|must|at most|sign in|give)\b/giu

/** What is read to a person: no code, no keys, no names that somebody typed, and nothing that is marked as English. */
const spoken = (page: string): string =>
  page
    .replaceAll(/<(div|pre|ul|section|span|p|td|li)\b[^>]* lang="en"[^]*?<\/\1>/gu, " ")
    .replaceAll(/<(code|pre|script|style|textarea|svg|kbd)\b[^]*?<\/\1>/gu, " ")
    .replaceAll(/<(dd|span|p|td|th|h1|a|strong)\b[^>]* class="[^"]*\bmono\b[^"]*"[^]*?<\/\1>/gu, " ")
    .replaceAll(/<option value="([^"]*)"[^>]*>\1<\/option>/gu, " ")

const attributes =
  / (?:aria-label|alt|title|placeholder|data-(?:copy|copied|make|made|unable|busy|verified|refused|unusable))="([^"]*)"/gu

/** Each English word with what stands around it. */
export const englishOn = (page: string): ReadonlyArray<string> => {
  const said = spoken(page)
  const labels = [...said.matchAll(attributes)].map(([, label]) => label ?? "")
  const text = [said.replaceAll(/<[^>]*>/gu, "\n"), ...labels].join("\n")
  return [...new Set(text.split("\n").filter((line) => line.match(words) !== null))].map((line) =>
    line.trim().slice(0, 160)
  )
}
