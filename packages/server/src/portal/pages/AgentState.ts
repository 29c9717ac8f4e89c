/** Whether an agent is connected, in a shape and a word. Undefined: it is not known. */
import { type Markup, markup } from "@catenet/domain/values/Markup"
import type { Texts } from "../shell/English.ts"

export const state = (texts: Texts, isConnected: boolean | undefined): Markup => {
  const [kind, word] =
    isConnected === undefined
      ? ["unknown", texts.stateUnknown]
      : isConnected
        ? ["up", texts.connected]
        : ["down", texts.notConnected]
  return markup`<span class="state"><svg viewBox="0 0 12 12" aria-hidden="true"><circle class="${kind}" cx="6" cy="6" r="4" /></svg>${word}</span>`
}
