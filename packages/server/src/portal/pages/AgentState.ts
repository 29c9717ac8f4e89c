/** Whether an agent is connected, in a shape and a word. Undefined: it is not known. */
import { type Markup, markup } from "@catenet/domain/values/Markup"
import type { Texts } from "../texts/English.ts"

export type State = "up" | "down" | "unknown"

export const stateOf = (connected: boolean | null | undefined): State =>
  connected === null || connected === undefined ? "unknown" : connected ? "up" : "down"

export const stateTexts = (texts: Texts): Readonly<Record<State, string>> => ({
  up: texts.connected,
  down: texts.notConnected,
  unknown: texts.stateUnknown
})

/** With the id of its tunnel the state follows what happens, where the page has its script. */
export const state = (texts: Texts, isConnected: boolean | undefined, id?: string): Markup => {
  const kind = stateOf(isConnected)
  return markup`<span class="state" data-state="${kind}"${
    id === undefined ? undefined : markup` data-tunnel="${id}" role="status"`
  }><svg viewBox="0 0 12 12" aria-hidden="true"><circle class="${kind}" cx="6" cy="6" r="4" /></svg><span class="word">${stateTexts(texts)[kind]}</span></span>`
}
