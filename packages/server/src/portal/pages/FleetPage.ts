/** `/portal/fleet`: one row for each own tunnel, from stored data and the answers of edges. No agent is contacted. */
import type { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
import type { FleetRow } from "@catenet/domain/tunnels/Usage"
import { ageText } from "@catenet/domain/values/Format"
import { markup } from "@catenet/platform/Markup"
import { state } from "../shell/AgentState.ts"
import * as DayBars from "../shell/DayBars.ts"
import { activityTabs, panel } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { silentEdges } from "./SilentEdges.ts"

export interface Facts {
  readonly rows: ReadonlyArray<FleetRow>
  /** Of all tunnels together. */
  readonly days: ReadonlyArray<TunnelDay>
}

/** While an edge is silent it is not known whether there was a session. */
const ofSessions = (texts: Texts, { silent_edges }: FleetRow, known: string | null) =>
  known ?? (silent_edges.length > 0 ? "n/a" : texts.noSessions)

const presence = (texts: Texts, { bridge_granted, bridge_last_seen_secs_ago: seen, online }: FleetRow) =>
  !bridge_granted
    ? texts.noGrant
    : seen !== null
      ? texts.serving(texts.count(seen))
      : online === null
        ? texts.presenceUnknown
        : texts.notConnected

const readiness = (texts: Texts, { gaps, probed_at }: FleetRow) =>
  probed_at === null
    ? markup`<span class="chip">${texts.notProbed}</span>`
    : gaps.length === 0
      ? markup`<span class="chip gruen">${texts.allOk}</span>`
      : markup`${gaps.map((gap) => markup`<span class="chip gelb">${gap}</span> `)}`

const row = (texts: Texts, fleet: FleetRow, now: number) =>
  markup`<tr><th scope="row"><a href="/portal/tunnels/${fleet.id}">${fleet.tunnel}</a><span class="sub mono">${fleet.hostname ?? texts.noHostname}</span></th>
    <td data-label="${texts.columnState}">${state(texts, fleet.reach, fleet.id)}<span class="sub">${ofSessions(
      texts,
      fleet,
      fleet.carrier === null ? null : texts.transport(fleet.carrier)
    )}</span></td>
    <td class="figure" data-label="${texts.uptimeDays7}">${ofSessions(texts, fleet, fleet.uptime_7d_pct === null ? null : texts.percent(fleet.uptime_7d_pct))}</td>
    <td data-label="${texts.bridgeTitle}">${texts.bridgeModeOf(fleet.bridge_mode)}<span class="sub">${presence(texts, fleet)}</span></td>
    <td data-label="${texts.version}">${fleet.agent_version ?? texts.unknown}${
      fleet.probed_at === null
        ? undefined
        : markup`<span class="sub">${now - fleet.probed_at < 60 ? texts.justNow : ageText(now - fleet.probed_at)}</span>`
    }</td>
    <td data-label="${texts.readiness}">${readiness(texts, fleet)}</td></tr>`

export const page = (texts: Texts, { days, rows }: Facts, now: number): Page => {
  const versions = [...new Set(rows.flatMap(({ agent_version }) => agent_version ?? []))].toSorted()
  const counts = {
    tunnels: rows.length,
    online: rows.filter(({ online }) => online === true).length,
    bridges: rows.filter(
      ({ bridge_granted, bridge_last_seen_secs_ago }) => bridge_granted && bridge_last_seen_secs_ago !== null
    ).length,
    gaps: rows.filter(({ gaps }) => gaps.length > 0).length
  }
  return {
    title: texts.fleet,
    area: "fleet",
    main: markup`<div class="head"><div><h1>${texts.fleet}</h1><p class="lead">${texts.fleetLine(counts)}</p></div></div>
      ${activityTabs(texts, "/portal/fleet")}
      ${silentEdges(
        texts,
        rows.flatMap(({ silent_edges }) => silent_edges)
      )}
      ${versions.length > 1 ? markup`<p class="panel notice">${texts.drift(versions.join(", "))}</p>` : undefined}
      ${
        rows.length === 0
          ? markup`<p class="panel pad">${texts.noTunnels} <a href="/portal/tunnels">${texts.newTunnel}</a></p>`
          : markup`<div class="panel list"><table><thead><tr><th scope="col">${texts.columnName}</th><th scope="col">${texts.columnState}</th>
              <th class="figure" scope="col">${texts.uptimeDays7}</th><th scope="col">${texts.bridgeTitle}</th><th scope="col">${texts.version}</th>
              <th scope="col">${texts.readiness}</th></tr></thead><tbody>${rows.map((each) => row(texts, each, now))}</tbody></table></div>
            ${panel(texts.barsTitle, days.length === 0 ? markup`<p class="hint">${texts.daysNotCounted}</p>` : markup`<p class="hint">${texts.fleetBarsText}</p>${DayBars.uptime(texts, days, texts.fleetBarsLabel)}`)}
            ${DayBars.traffic(texts, days)}`
      }`
  }
}
