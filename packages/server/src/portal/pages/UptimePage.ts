/** `/portal/tunnels/:id/uptime`: how long a tunnel was served, its sessions, and its badge. A silent edge gives no number. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { sessionEnds, type SessionRecord } from "@catenet/domain/tunnels/TunnelTraffic"
import { type Badge, uptimeByDay } from "@catenet/domain/tunnels/Uptime"
import type { UptimeReport } from "@catenet/domain/tunnels/Usage"
import { durationText } from "@catenet/domain/values/Format"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { markup } from "@catenet/platform/Markup"
import * as DayBars from "../shell/DayBars.ts"
import { callout, panel } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"
import { silentEdges } from "./SilentEdges.ts"
import * as BadgePanel from "./tunnel/BadgePanel.ts"
import { head } from "./TunnelPage.ts"

export interface Facts {
  readonly tunnel: Tunnel
  readonly report: UptimeReport
  readonly badge: Badge
  readonly now: number
  readonly origin: string
  readonly address: string | undefined
  readonly reach: Reachability | undefined
}

const figure = (label: string, value: string) => markup`<div><dt>${label}</dt><dd>${value}</dd></div>`

const endOf = (texts: Texts, reason: string | null) => {
  if (reason === null) return "–"
  const known = sessionEnds.find((end) => end === reason)
  return known === undefined ? texts.sessionEndOther : texts.sessionEnds[known]
}

const session = (
  texts: Texts,
  { bytes_in, bytes_out, connected_at, disconnected_at, reason, transport, carrier = transport }: SessionRecord
) =>
  markup`<tr><th scope="row">${timestamp(connected_at)}</th>
    <td data-label="${texts.sessionUntil}">${disconnected_at === null ? markup`${texts.sessionOpen}` : timestamp(disconnected_at)}</td>
    <td data-label="${texts.sessionTransport}">${texts.transport(carrier)}</td>
    <td class="figure" data-label="${texts.bytesIn}">${texts.bytes(bytes_in)}</td><td class="figure" data-label="${texts.bytesOut}">${texts.bytes(bytes_out)}</td>
    <td data-label="${texts.sessionReason}">${endOf(texts, reason)}</td></tr>`

/** An edge of before tells no days: those of the sessions that it gave. */
const daysOf = ({ days, sessions }: UptimeReport, now: number): ReadonlyArray<DayBars.Day> => {
  if (days.length > 0) return days
  const first = Math.min(...sessions.map(({ connected_at }) => connected_at))
  return uptimeByDay(sessions, first, now).map(({ share, start }) => ({
    start: UnixSeconds.make(start),
    uptime_pct: share,
    visitors: null,
    bytes_in: null,
    bytes_out: null
  }))
}

const figures = (texts: Texts, { now, report }: Facts) => {
  const {
    bytes_in_30d,
    bytes_out_30d,
    longest_outage_30d_secs: longest,
    sessions,
    sessions_30d,
    uptime,
    visitors_30d
  } = report
  if (report.edge_silent) return callout("warn", "warning", markup`<p>${texts.uptimeSilent}</p>`)
  if (uptime === null || longest === null) return callout("info", "info", markup`<p>${texts.uptimeNone}</p>`)
  const days = daysOf(report, now)
  return markup`<dl class="tiles">
      ${figure(texts.hours24, texts.percent(uptime.h24))}${figure(texts.days7, texts.percent(uptime.d7))}
      ${figure(texts.days30, texts.percent(uptime.d30))}
      ${figure(texts.longestOutage, longest === 0 ? texts.noneObserved : durationText(longest))}
      ${figure(texts.sessions30, texts.count(sessions_30d ?? 0))}
      ${figure(texts.visitors30, visitors_30d === null ? "n/a" : texts.count(visitors_30d))}
      ${figure(texts.bytesIn30, texts.bytes(bytes_in_30d ?? 0))}${figure(texts.bytesOut30, texts.bytes(bytes_out_30d ?? 0))}</dl>
    ${panel(texts.barsTitle, DayBars.uptime(texts, days))}
    ${DayBars.traffic(texts, days)}
    <section class="panel list"><h2>${texts.sessionsOfTunnel}</h2>
      <table><thead><tr><th scope="col">${texts.sessionSince}</th><th scope="col">${texts.sessionUntil}</th>
        <th scope="col">${texts.sessionTransport}</th><th class="figure" scope="col">${texts.bytesIn}</th><th class="figure" scope="col">${texts.bytesOut}</th>
        <th scope="col">${texts.sessionReason}</th></tr></thead>
      <tbody>${sessions.slice(0, 200).map((each) => session(texts, each))}</tbody></table></section>`
}

export const page = (texts: Texts, facts: Facts): Page => {
  const { hostname, id, name } = facts.tunnel
  const own = `/portal/tunnels/${id}`
  return {
    title: `${texts.tabs.traffic} · ${hostname ?? name}`,
    area: "tunnels",
    crumbs: [
      ["/portal/tunnels", texts.tunnels],
      [own, name]
    ],
    here: texts.tabs.traffic,
    main: markup`${head(texts, { tunnel: facts.tunnel, address: facts.address, controls: facts }, `${own}/uptime`)}
      ${facts.report.edge_silent ? undefined : silentEdges(texts, facts.report.silent_edges)}
      ${figures(texts, facts)}
      ${BadgePanel.render(texts, facts.tunnel, facts)}`
  }
}
