/** Who reads a page of the edge: a person, in one of two languages, or a program, which asked for no page. */
import { preferred } from "@catenet/platform/AcceptLanguage"
import { parseField } from "@catenet/wire/http/FieldLine"

export type Language = "en" | "de"

/** Undefined: a program. */
export type Reader = Language | undefined

/** By the header fields of a request. A page is for those who name `text/html` as what they take. */
export const readerOf = (accept: string | undefined, acceptLanguage: string | undefined): Reader =>
  /\btext\/html\b/iu.test(accept ?? "") ? (preferred(acceptLanguage, ["en", "de"]) ?? "en") : undefined

/** The same by fields in their order. */
export const readerOfFields = (fields: ReadonlyArray<{ readonly key: string; readonly value: string }>): Reader => {
  const valueOf = (name: string) => fields.find(({ key }) => key === name)?.value
  return readerOf(valueOf("accept"), valueOf("accept-language"))
}

/** The same by what has come of a request head, as latin-1 text. */
export const readerOfHead = (head: string): Reader => {
  const [fields = ""] = head.split("\r\n\r\n", 1)
  return readerOfFields(fields.split("\r\n").flatMap((line) => parseField(line) ?? []))
}
