/** The text of a refusal on a page: its own sentence in English, by its code in other languages. */
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Option, Record } from "effect"
import type { BrowserRefusal } from "../../http/SameOrigin.ts"
import type { Texts } from "../texts/English.ts"

export const textsOfCode = (texts: Texts, code: unknown): readonly [title: string, detail: string] | undefined =>
  typeof code === "string" ? texts.problems.get(code) : undefined

/** The sentences of the fields that were refused; those of fields without one are left out. */
const reasonsOf = (texts: Texts, { errors }: MalformedRequest): string => {
  const reasons: Readonly<Record<string, string>> = texts.reasons
  const fields = new Set(errors.map(({ path }) => String(path[0] ?? "")))
  return [...fields].flatMap((field) => Option.toArray(Record.get(reasons, field))).join(" ")
}

export const problemTexts = (texts: Texts, refusal: BrowserRefusal): readonly [title: string, detail: string] => {
  const [title, detail] = textsOfCode(texts, Reflect.get(refusal, "_tag")) ?? [refusal.title, refusal.detail]
  const reasons = refusal instanceof MalformedRequest ? reasonsOf(texts, refusal) : ""
  return [title, reasons === "" ? detail : reasons]
}
