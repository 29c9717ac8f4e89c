/** One field line of HTTP/1.1, of a head or of trailers, read by the letter of RFC 9112 section 5. */

export interface Field {
  /** As the visitor wrote it. */
  readonly name: string
  /** In lower case. */
  readonly key: string
  readonly value: string
}

export const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// eslint-disable-next-line no-control-regex -- control characters are exactly what must be found
const forbidden = /[\0-\x08\x0a-\x1f\x7f]/

const space = 0x20
const tab = 0x09
const isOws = (code: number) => code === space || code === tab

/** Without spaces and tabs at its ends: no other white space is any, so that no parser takes off more than this. */
const trimOws = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isOws(text.charCodeAt(start))) start++
  while (end > start && isOws(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

/** Reads a line without its end, as latin-1 text; nothing for what is no field line, a folded one among them. */
export const parseField = (line: string): Field | undefined => {
  const colon = line.indexOf(":")
  if (colon < 1) return undefined
  const name = line.slice(0, colon)
  if (!tokenPattern.test(name) || forbidden.test(line)) return undefined
  return { name, key: name.toLowerCase(), value: trimOws(line.slice(colon + 1)) }
}

/** The members of a list field (RFC 9110 section 5.6.1), in lower case. */
export const listOf = (value: string): ReadonlyArray<string> =>
  value
    .split(",")
    .map((member) => trimOws(member).toLowerCase())
    .filter((member) => member !== "")
