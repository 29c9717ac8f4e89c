/** A key or an id, shortened in the middle, with the whole of it for whoever points at it or copies it. */
import { type Markup, markup } from "@catenet/domain/values/Markup"

export const shortKey = (key: string): Markup =>
  key.length <= 16
    ? markup`<code>${key}</code>`
    : markup`<details class="key"><summary><code>${key.slice(0, 8)}…${key.slice(-6)}</code></summary><code>${key}</code></details>`
