/** What a page says of a refusal: in English as the refusal says it, in another language by its code. */
import type { Refusal } from "../../http/RefusalPages.ts"
import type { Texts } from "../texts/English.ts"

export const problemTexts = (texts: Texts, refusal: Refusal): readonly [title: string, detail: string] => {
  const code: unknown = Reflect.get(refusal, "_tag")
  const own = typeof code === "string" ? texts.problems.get(code) : undefined
  return own ?? [refusal.title, refusal.detail]
}
