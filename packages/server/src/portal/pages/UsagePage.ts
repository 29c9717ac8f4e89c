/** `/portal/usage`: the traffic of every tunnel of an account in thirty days, with sums. */
import type { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
import type { UsageRow } from "@catenet/domain/tunnels/Usage"
import { markup } from "@catenet/platform/Markup"
import * as DayBars from "../shell/DayBars.ts"
import { activityTabs } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { silentEdges } from "./SilentEdges.ts"

export interface Facts {
  readonly rows: ReadonlyArray<UsageRow>
  /** Of all tunnels together. */
  readonly days: ReadonlyArray<TunnelDay>
}

const orNone = (value: number | null, text: (value: number) => string) => (value === null ? "n/a" : text(value))

const row = (
  texts: Texts,
  { bytes_in_30d, bytes_out_30d, hostname, id, sessions_30d, tunnel, uptime_30d_pct, visitors_30d }: UsageRow
) =>
  markup`<tr><th scope="row"><a href="/portal/tunnels/${id}/uptime">${tunnel}</a><span class="sub mono">${hostname ?? texts.noHostname}</span></th>
    <td class="figure" data-label="${texts.uptimeTitle}">${texts.percent(uptime_30d_pct)}</td>
    <td class="figure" data-label="${texts.sessionsTitle}">${orNone(sessions_30d, texts.count)}</td>
    <td class="figure" data-label="${texts.visitors}">${orNone(visitors_30d, texts.count)}</td>
    <td class="figure" data-label="${texts.bytesIn}">${orNone(bytes_in_30d, texts.bytes)}</td>
    <td class="figure" data-label="${texts.bytesOut}">${orNone(bytes_out_30d, texts.bytes)}</td></tr>`

/** Of the tunnels whose figure is known; none when no figure is. */
const sum = (rows: ReadonlyArray<UsageRow>, of: (row: UsageRow) => number | null) => {
  const known = rows.map(of).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0)
}

export const page = (texts: Texts, { days, rows }: Facts): Page => ({
  title: texts.usage,
  area: "fleet",
  crumbs: [["/portal/fleet", texts.fleet]],
  main: markup`<div class="head"><div><h1>${texts.usage}</h1><p class="lead">${texts.usageText}</p></div>
      <a class="button" href="/portal/usage.csv">${texts.usageCsv}</a></div>
      ${activityTabs(texts, "/portal/usage")}
    ${silentEdges(
      texts,
      rows.flatMap(({ silent_edges }) => silent_edges)
    )}
    ${
      rows.length === 0
        ? markup`<p class="panel pad">${texts.noTunnels} <a href="/portal/tunnels">${texts.newTunnel}</a></p>`
        : markup`<div class="panel list"><table>
            <thead><tr><th scope="col">${texts.columnName}</th>${[
              texts.uptimeTitle,
              texts.sessionsTitle,
              texts.visitors,
              texts.bytesIn,
              texts.bytesOut
            ].map((head) => markup`<th class="figure" scope="col">${head}</th>`)}</tr></thead>
            <tbody>${rows.map((each) => row(texts, each))}</tbody>
            <tfoot><tr><th scope="row">${texts.totals}</th><td></td>
              <td class="figure" data-label="${texts.sessionsTitle}">${orNone(
                sum(rows, (each) => each.sessions_30d),
                texts.count
              )}</td>
              <td class="figure" data-label="${texts.visitors}">${orNone(
                sum(rows, (each) => each.visitors_30d),
                texts.count
              )}</td>
              <td class="figure" data-label="${texts.bytesIn}">${orNone(
                sum(rows, (each) => each.bytes_in_30d),
                texts.bytes
              )}</td>
              <td class="figure" data-label="${texts.bytesOut}">${orNone(
                sum(rows, (each) => each.bytes_out_30d),
                texts.bytes
              )}</td></tr></tfoot></table></div>
            ${DayBars.traffic(texts, days)}`
    }`
})
