/** A time for people: UTC, to the minute. With the script it is the reader's own, and "5 min ago" within a day; UTC is its title then. */
import { type Markup, markup } from "@catenet/platform/Markup"
import { DateTime } from "effect"

export const timestamp = (seconds: number): Markup => {
  const iso = DateTime.formatIso(DateTime.makeUnsafe(seconds * 1000))
  return markup`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`
}
