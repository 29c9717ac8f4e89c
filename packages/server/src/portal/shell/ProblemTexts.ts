/** What a page says of a refusal: in English as the refusal says it, in another language by its code. */
import type { Refusal } from "../../http/Refusal.ts"
import type { Texts } from "../texts/English.ts"

export const textsOfCode = (texts: Texts, code: unknown): readonly [title: string, detail: string] | undefined =>
  typeof code === "string" ? texts.problems.get(code) : undefined

export const problemTexts = (texts: Texts, refusal: Refusal): readonly [title: string, detail: string] =>
  textsOfCode(texts, Reflect.get(refusal, "_tag")) ?? [refusal.title, refusal.detail]
