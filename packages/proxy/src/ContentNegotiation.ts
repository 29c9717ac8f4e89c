/** Who reads a page of the edge: a person, in one of two languages, or a program, which asked for no page. */
import { preferred } from "@catenet/platform/AcceptLanguage"
import { parseField } from "@catenet/wire/http/FieldLine"

export type Language = "en" | "de"

/** Undefined: a program. */
export type Reader = Language | undefined

/** By the header fields of a request. A page is for those who name `text/html` as what they take. */
export const readerOf = (accept: string | undefined, acceptLanguage: string | undefined): Reader =>
  /\btext\/html\b/iu.test(accept ?? "") ? (preferred(acceptLanguage, ["en", "de"]) ?? "en") : undefined

/** The name of the site as the request has it, without its port; a page names it. */
export const siteOf = (authority: string | undefined): string | undefined =>
  /^([a-z0-9.-]{1,253})(?::\d{1,5})?$/iu.exec(authority ?? "")?.[1]

type Fields = ReadonlyArray<{ readonly key: string; readonly value: string }>

/** The reader by fields in their order. */
export const readerOfFields = (fields: Fields): Reader => {
  const valueOf = (name: string) => fields.find(({ key }) => key === name)?.value
  return readerOf(valueOf("accept"), valueOf("accept-language"))
}

/** Of what has come of a request head, as latin-1 text. */
const fieldsOfHead = (head: string): Fields => {
  const [fields = ""] = head.split("\r\n\r\n", 1)
  return fields.split("\r\n").flatMap((line) => parseField(line) ?? [])
}

export const readerOfHead = (head: string): Reader => readerOfFields(fieldsOfHead(head))
export const siteOfHead = (head: string): string | undefined =>
  siteOf(fieldsOfHead(head).find(({ key }) => key === "host")?.value)
