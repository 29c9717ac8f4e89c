/** A key or an id, shortened in the middle; opening it shows the whole. */
import { type Markup, markup } from "@catenet/platform/Markup"

export const shortKey = (key: string): Markup =>
  key.length <= 16
    ? markup`<code>${key}</code>`
    : markup`<details class="key"><summary><code>${key.slice(0, 8)}…${key.slice(-6)}</code></summary><code>${key}</code></details>`
