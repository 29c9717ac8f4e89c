/** Names the edges that did not answer: what they know is not in the figures of the page. */
import { markup } from "@catenet/platform/Markup"
import type { Texts } from "../texts/English.ts"

export const silentEdges = (texts: Texts, ids: ReadonlyArray<string>) =>
  ids.length === 0 ? undefined : markup`<p class="panel notice">${texts.silentEdges([...new Set(ids)].join(", "))}</p>`
