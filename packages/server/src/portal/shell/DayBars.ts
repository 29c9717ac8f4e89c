/** Thirty days as bars: uptime, visitors and bytes of each day, as pictures and as tables. Null: unknown. */
import type { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
import { timeText } from "@catenet/domain/values/Format"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Texts } from "../texts/English.ts"
import { panel } from "./Field.ts"

export type Day = Pick<TunnelDay, "start" | "uptime_pct" | "visitors" | "bytes_in" | "bytes_out">

const width = 1000
const height = 180

/** What a day shows: its text, and its parts from the ground up, each a share of the height. */
interface Bar {
  readonly text: string
  readonly parts: ReadonlyArray<readonly [kind: string, share: number]>
}

const dateOf = ({ start }: Day) => timeText(start).slice(0, 10)

/** Equal bars over the whole width; `rx` rounds those of a strip. */
const bars = (days: ReadonlyArray<Day>, tall: number, barOf: (day: Day) => Bar) => {
  const step = width / Math.max(1, days.length)
  return days.flatMap((day, index) => {
    const { parts, text } = barOf(day)
    let ground = tall
    return parts.map(([kind, share]) => {
      const high = Math.max(share === 0 ? 0 : 1, Math.round(share * tall))
      ground -= high
      return markup`<rect class="${kind}" x="${String(Math.round(index * step))}" y="${String(Math.max(0, ground))}" width="${String(
        Math.round(step * 0.8)
      )}" height="${String(high)}"><title>${dateOf(day)}: ${text}</title></rect>`
    })
  })
}

/** The round number at or above the highest, of 1, 2 or 5 in its unit; sizes count by 1,024. */
const ceilingOf = (most: number, base: number): number => {
  const unit = base ** Math.floor(Math.log(Math.max(1, most)) / Math.log(base))
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, most / unit)))
  const step = [1, 2, 4, 10].find((each) => each * ten * unit >= most) ?? 10
  return step * ten * unit
}

/** A picture with its axes: five lines from 0 up, and dates below. The labels are text, so that they keep their size. */
const chart = (
  label: string,
  days: ReadonlyArray<Day>,
  axis: { readonly ceiling: number; readonly text: (value: number) => string },
  barOf: (day: Day) => Bar
): Markup =>
  markup`<figure class="chart low"><div class="y" aria-hidden="true">${[4, 3, 2, 1, 0].map(
    (line) => markup`<span>${axis.text((axis.ceiling * line) / 4)}</span>`
  )}</div><svg class="plot bars" viewBox="0 0 ${String(width)} ${String(height)}" preserveAspectRatio="none" role="img" aria-label="${label}">${[
    0, 1, 2, 3, 4
  ].map(
    (line) => markup`<path class="g" d="M0 ${String((line * height) / 4)}H${String(width)}"/>`
  )}${bars(days, height, barOf)}</svg>
    <div class="x" aria-hidden="true">${days
      .filter((_, index) => index % 7 === (days.length - 1) % 7)
      .map((day) => markup`<span>${dateOf(day).slice(5)}</span>`)}</div></figure>`

const table = (
  texts: Texts,
  days: ReadonlyArray<Day>,
  columns: ReadonlyArray<readonly [label: string, text: (day: Day) => string]>
): Markup =>
  markup`<details class="asTable"><summary>${texts.barsTable}</summary><table><thead><tr><th scope="col">${texts.barsDay}</th>${columns.map(
    ([label]) => markup`<th scope="col">${label}</th>`
  )}</tr></thead><tbody>${days
    .toReversed()
    .map(
      (day) =>
        markup`<tr><th scope="row">${dateOf(day)}</th>${columns.map(
          ([label, text]) => markup`<td data-label="${label}">${text(day)}</td>`
        )}</tr>`
    )}</tbody></table></details>`

const kindOf = (share: number | null) => (share === null ? "n" : share >= 99.99 ? "up" : share >= 99.65 ? "p" : "d")
const orNone = (value: number | null, text: (value: number) => string) => (value === null ? "n/a" : text(value))

/** A strip of equal bars: green without an outage, amber below five minutes, red beyond, grey where nothing was measured. */
export const uptime = (texts: Texts, days: ReadonlyArray<Day>, label: string = texts.barsLabel): Markup => {
  const known = days.flatMap(({ uptime_pct }) => uptime_pct ?? [])
  const bad = known.filter((share) => kindOf(share) !== "up").length
  return markup`<svg class="strip wide" viewBox="0 0 ${String(width)} 34" preserveAspectRatio="none" role="img" aria-label="${label}: ${texts.stripLabel(bad, known.length)}">${bars(
    days,
    34,
    ({ uptime_pct: share }) => ({ text: texts.percent(share), parts: [[kindOf(share), 1]] })
  )}</svg><div class="between small soft"><span>${days[0] === undefined ? "" : dateOf(days[0])}</span><span>${texts.today}</span></div>${table(
    texts,
    days,
    [[texts.uptimeTitle, ({ uptime_pct }) => texts.percent(uptime_pct)]]
  )}`
}

const visitors = (texts: Texts, days: ReadonlyArray<Day>): Markup => {
  const ceiling = Math.max(4, ceilingOf(Math.max(...days.map(({ visitors }) => visitors ?? 0)), 10))
  const text = ({ visitors }: Day) => orNone(visitors, texts.count)
  return markup`${chart(texts.visitorsLabel, days, { ceiling, text: texts.count }, (day) => ({
    text: text(day),
    parts: day.visitors === null ? [] : [["count", day.visitors / ceiling]]
  }))}${table(texts, days, [[texts.visitorsByDay, text]])}`
}

/** What was sent stands on what was received. */
const bytes = (texts: Texts, days: ReadonlyArray<Day>): Markup => {
  const most = Math.max(...days.map(({ bytes_in, bytes_out }) => (bytes_in ?? 0) + (bytes_out ?? 0)))
  const ceiling = Math.max(4, ceilingOf(most, 1024))
  const received = ({ bytes_in }: Day) => orNone(bytes_in, texts.bytes)
  const sent = ({ bytes_out }: Day) => orNone(bytes_out, texts.bytes)
  return markup`<div class="row legend"><span><svg viewBox="0 0 14 10" aria-hidden="true"><rect class="count" width="14" height="10" rx="2"/></svg>${texts.bytesIn}</span><span><svg viewBox="0 0 14 10" aria-hidden="true"><rect class="more" width="14" height="10" rx="2"/></svg>${texts.bytesOut}</span></div>${chart(
    texts.bytesLabel,
    days,
    { ceiling, text: texts.bytes },
    (day) => ({
      text: `${texts.bytesIn} ${received(day)}, ${texts.bytesOut} ${sent(day)}`,
      parts:
        day.bytes_in === null || day.bytes_out === null
          ? []
          : [
              ["count", day.bytes_in / ceiling],
              ["more", day.bytes_out / ceiling]
            ]
    })
  )}${table(texts, days, [
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
