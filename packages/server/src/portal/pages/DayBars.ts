/** Thirty days as bars: uptime, visitors and bytes of each day, as pictures and as tables. Null: unknown. */
import type { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
import { timeText } from "@catenet/domain/values/Format"
import { type Markup, markup } from "@catenet/platform/Markup"
import { panel } from "../shell/Field.ts"
import type { Texts } from "../texts/English.ts"

export type Day = Pick<TunnelDay, "start" | "uptime_pct" | "visitors" | "bytes_in" | "bytes_out">

const height = 28
const step = 8

/** One bar of one or more parts, from the ground up; each is a share of the height. */
interface Bar {
  readonly text: string
  readonly parts: ReadonlyArray<readonly [kind: string, share: number]>
}

const unknown: Bar["parts"] = [["unknown", 0.1]]

const dateOf = ({ start }: Day) => timeText(start).slice(0, 10)

const rectangles = ({ parts, text }: Bar, day: Day, index: number) => {
  let ground = height
  return parts.map(([kind, share]) => {
    const tall = Math.max(share === 0 ? 0 : 1, Math.round(share * height))
    ground -= tall
    return markup`<rect class="${kind}" x="${String(index * step)}" y="${String(Math.max(0, ground))}" width="6" height="${String(
      tall
    )}"><title>${dateOf(day)}: ${text}</title></rect>`
  })
}

const picture = (label: string, days: ReadonlyArray<Day>, barOf: (day: Day) => Bar): Markup =>
  markup`<svg class="bars" viewBox="0 0 ${String(days.length * step)} ${String(height)}" role="img" aria-label="${label}">${days.flatMap(
    (day, index) => rectangles(barOf(day), day, index)
  )}</svg>`

const table = (
  texts: Texts,
  days: ReadonlyArray<Day>,
  columns: ReadonlyArray<readonly [label: string, text: (day: Day) => string]>
): Markup =>
  markup`<details><summary>${texts.barsTable}</summary><table><thead><tr><th scope="col">${texts.barsDay}</th>${columns.map(
    ([label]) => markup`<th scope="col">${label}</th>`
  )}</tr></thead><tbody>${days
    .toReversed()
    .map(
      (day) =>
        markup`<tr><th scope="row">${dateOf(day)}</th>${columns.map(
          ([label, text]) => markup`<td data-label="${label}">${text(day)}</td>`
        )}</tr>`
    )}</tbody></table></details>`

const kindOf = (share: number) => (share >= 99 ? "up" : share >= 95 ? "partly" : "down")
const orNone = (value: number | null, text: (value: number) => string) => (value === null ? "n/a" : text(value))

/** A bar is as high as its share, so that colour is not all that tells it; a day that was all down is a low one. */
export const uptime = (texts: Texts, days: ReadonlyArray<Day>, label: string = texts.barsLabel): Markup =>
  markup`${picture(label, days, ({ uptime_pct: share }) => ({
    text: texts.percent(share),
    parts: share === null ? unknown : [[kindOf(share), Math.max(0.1, share / 100)]]
  }))}${table(texts, days, [[texts.uptimeTitle, ({ uptime_pct }) => texts.percent(uptime_pct)]])}`

/** The highest bar fills the picture. */
const visitors = (texts: Texts, days: ReadonlyArray<Day>): Markup => {
  const most = Math.max(1, ...days.map(({ visitors }) => visitors ?? 0))
  const text = ({ visitors }: Day) => orNone(visitors, texts.count)
  return markup`${picture(texts.visitorsLabel, days, (day) => ({
    text: text(day),
    parts: day.visitors === null ? unknown : [["count", day.visitors / most]]
  }))}${table(texts, days, [[texts.visitorsByDay, text]])}`
}

/** What was sent stands on what was received. */
const bytes = (texts: Texts, days: ReadonlyArray<Day>): Markup => {
  const most = Math.max(1, ...days.map(({ bytes_in, bytes_out }) => (bytes_in ?? 0) + (bytes_out ?? 0)))
  const received = ({ bytes_in }: Day) => orNone(bytes_in, texts.bytes)
  const sent = ({ bytes_out }: Day) => orNone(bytes_out, texts.bytes)
  return markup`${picture(texts.bytesLabel, days, (day) => ({
    text: `${texts.bytesIn} ${received(day)}, ${texts.bytesOut} ${sent(day)}`,
    parts:
      day.bytes_in === null || day.bytes_out === null
        ? unknown
        : [
            ["count", day.bytes_in / most],
            ["more", day.bytes_out / most]
          ]
  }))}${table(texts, days, [
    [texts.bytesIn, received],
    [texts.bytesOut, sent]
  ])}`
}

/** Visitors and bytes by day, each in a panel of its own. */
export const traffic = (texts: Texts, days: ReadonlyArray<Day>): Markup => {
  const shown = (picture: typeof visitors) =>
    days.some(({ visitors }) => visitors !== null)
      ? picture(texts, days)
      : markup`<p class="hint">${texts.daysNotCounted}</p>`
  return markup`${panel(texts.visitorsByDay, shown(visitors))}${panel(texts.bytesByDay, shown(bytes))}`
}
