/** A field of a form with its label, its hint, and, where it was refused, the sentence that says why. */
import { type Markup, markup } from "@catenet/domain/values/Markup"

export interface Refused {
  /** What was typed. */
  readonly typed: string
  readonly reason: string
}

export const field = (options: {
  readonly name: string
  readonly label: string
  readonly type?: "text" | "url" | "number"
  readonly value?: string
  readonly hint?: string
  readonly isOptional?: boolean
  readonly refused?: Refused | undefined
}): Markup => {
  const { hint, isOptional = false, label, name, refused, type = "text" } = options
  const id = `field-${name}`
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(refused === undefined ? [] : [`${id}-error`])
  ].join(" ")
  return markup`<div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : markup`<span class="hint" id="${id}-hint">${hint}</span>`}
    <input id="${id}" name="${name}" type="${type}" value="${refused?.typed ?? options.value ?? ""}" autocomplete="off"${
      described === "" ? undefined : markup` aria-describedby="${described}"`
    }${isOptional ? undefined : markup` required`}${refused === undefined ? undefined : markup` aria-invalid="true" autofocus`}>
    ${refused === undefined ? undefined : markup`<p class="error" id="${id}-error">${refused.reason}</p>`}
  </div>`
}
