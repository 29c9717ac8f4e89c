/** Thirty days as bars: the share of each day in which a tunnel was served, as a picture with the same as a table. */
import type { SessionRecord } from "@catenet/domain/tunnels/TunnelTraffic"
import { uptime } from "@catenet/domain/tunnels/Uptime"
import { percentText, timeText } from "@catenet/domain/values/Format"
import { type Markup, markup } from "@catenet/domain/values/Markup"
import type { Texts } from "../texts/English.ts"

const day = 86_400
const days = 30

export interface Day {
  /** Unix seconds of its first second, UTC. */
  readonly start: number
  /** Percent of what has passed of the day; null before the first session that is known. */
  readonly share: number | null
}

/** The days up to the one that `now` is in, oldest first. */
export const daysOf = (sessions: ReadonlyArray<SessionRecord>, now: number): ReadonlyArray<Day> => {
  const today = Math.floor(now / day) * day
  const first = Math.min(...sessions.map(({ connected_at }) => connected_at))
  return Array.from({ length: days }, (_, index) => {
    const start = today - (days - 1 - index) * day
    const end = Math.min(start + day, now)
    const begun = sessions.filter(({ connected_at }) => connected_at < end)
    return {
      start,
      share: end <= start ? null : uptime(begun, begun.length === 0 ? null : Math.max(first, 0), end - start, end)
    }
  })
}

const kindOf = (share: number | null) =>
  share === null ? "unknown" : share >= 99 ? "up" : share >= 95 ? "partly" : "down"

/** A bar is as high as its share, so that colour is not all that tells it. */
const heightOf = (share: number | null) => String(share === null ? 4 : Math.max(4, Math.round((share / 100) * 28)))

export const picture = (texts: Texts, bars: ReadonlyArray<Day>): Markup =>
  markup`<svg class="bars" viewBox="0 0 ${String(days * 8)} 28" role="img" aria-label="${texts.barsLabel}">${bars.map(
    ({ share, start }, index) =>
      markup`<rect class="${kindOf(share)}" x="${String(index * 8)}" y="${String(28 - Number(heightOf(share)))}" width="6" height="${heightOf(
        share
      )}"><title>${timeText(start).slice(0, 10)}: ${percentText(share)}</title></rect>`
  )}</svg>`

export const table = (texts: Texts, bars: ReadonlyArray<Day>): Markup =>
  markup`<details><summary>${texts.barsTable}</summary><table><thead><tr><th scope="col">${texts.barsDay}</th><th scope="col">${
    texts.uptimeTitle
  }</th></tr></thead><tbody>${bars
    .toReversed()
    .map(
      ({ share, start }) =>
        markup`<tr><th scope="row">${timeText(start).slice(0, 10)}</th><td data-label="${texts.uptimeTitle}">${percentText(share)}</td></tr>`
    )}</tbody></table></details>`
