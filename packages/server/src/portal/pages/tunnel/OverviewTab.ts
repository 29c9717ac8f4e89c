/** A tunnel at a glance: the way of a request with who can read it, its address and settings, thirty days. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { UptimeReport } from "@catenet/domain/tunnels/Usage"
import { durationText } from "@catenet/domain/values/Format"
import { isWildcard } from "@catenet/domain/values/Hostname"
import { type Markup, markup } from "@catenet/platform/Markup"
import * as DayBars from "../../shell/DayBars.ts"
import { section } from "../../shell/Field.ts"
import { type Icon, icon, mark } from "../../shell/Icons.ts"
import type { Texts } from "../../texts/English.ts"
import { stateLine } from "./AccessPanel.ts"
import type { Controls } from "./Controls.ts"

interface Hop {
  readonly sign: Icon
  readonly title: string
  readonly text: string
  readonly chip: readonly [word: string, kind: "" | "warn"]
  readonly seal: "" | "reads" | "warnreads" | "bad"
  /** The line to the next one: measured, not measured, or broken. */
  readonly line: "" | "plain" | "cut"
}

const hop = ({ chip: [word, kind], line, seal, sign, text, title }: Hop) =>
  markup`<li class="${line}"><span class="seal ${seal}">${icon(sign)}</span><h3>${title}</h3><p>${text}</p><span class="chip ${kind}">${icon("eye")}${word}</span></li>`

const way = (texts: Texts, { id, status }: Tunnel, reach: Reachability | undefined): Markup => {
  const state = reach?.state ?? "edge_silent"
  const isSilent = state === "edge_silent"
  const toAgent = isSilent ? "plain" : state === "agent_silent" ? "cut" : ""
  const toService = state === "up" ? "" : state === "origin_silent" ? "cut" : "plain"
  const origin = reach?.origin ?? texts.someOrigin
  const agent = isSilent ? "unknown" : state === "agent_silent" ? "silent" : "connected"
  const service =
    state === "up"
      ? texts.wayServiceUp(origin)
      : state === "origin_silent"
        ? `${texts.originFault(reach?.fault ?? "", origin, reach?.http_status ?? 0)}.`
        : texts.wayAgent.unknown
  const keys = state === "agent_silent" || isSilent ? undefined : reach?.key_exchange
  const canRead = status === "gruen" ? texts.cannotRead : texts.canRead
  return section(
    texts.wayTitle,
    markup`<ol class="way">${[
      hop({
        sign: "globe",
        title: texts.way.visitor,
        text: texts.wayVisitor[status],
        chip: [texts.reads, ""],
        seal: "",
        line: status === "rot" ? "plain" : ""
      }),
      hop({
        sign: "cloud",
        title: texts.way.edge,
        text: isSilent ? texts.wayEdge.silent : texts.wayEdge[status],
        chip: [canRead, status === "gruen" ? "" : "warn"],
        seal: status === "gruen" ? "" : "warnreads",
        line: toAgent
      }),
      hop({
        sign: "terminal",
        title: texts.way.agent,
        text: keys === undefined ? texts.wayAgent[agent] : `${texts.wayAgent[agent]} ${texts.wayKeys(keys)}`,
        chip: [texts.reads, ""],
        seal: agent === "connected" ? "reads" : agent === "silent" ? "bad" : "",
        line: toService
      }),
      hop({
        sign: "server",
        title: texts.way.service,
        text: service,
        chip: [texts.reads, ""],
        seal: state === "up" ? "reads" : state === "origin_silent" ? "bad" : "",
        line: ""
      })
    ]}</ol><footer><span class="row">${mark(status === "gruen" ? "up" : "part")}<span>${texts.wayFoot[status]}</span></span><a href="/portal/tunnels/${id}?tab=certificate">${texts.toCertificate}</a></footer>`,
    { lead: texts.wayLead }
  )
}

const visiting = (texts: Texts, { allow_any_login, require_login }: Tunnel, { links, visitors }: Controls) =>
  !require_login
    ? texts.visitorsEverybody
    : allow_any_login
      ? texts.visitorsAccounts
      : texts.visitorsSome(
          visitors.length,
          links.filter(({ state }) => state === "active" || state === "opened").length
        )

const address = (texts: Texts, tunnel: Tunnel, href: string | undefined, controls: Controls) => {
  const { alert, badge } = controls
  return section(
    texts.addressTitle,
    markup`<div class="pad">${
      href === undefined
        ? markup`<p class="soft">${texts.addressNone}</p>`
        : isWildcard(tunnel.hostname ?? "")
          ? markup`<p class="mono">${href}</p>`
          : markup`<p><a class="mono" href="${href}" data-copytext="${href}">${href}</a></p>`
    }</div><div class="more"><dl class="pairs pad"><dt>${texts.visitorsTitle}</dt><dd>${visiting(texts, tunnel, controls)}</dd>
      <dt>${texts.window}</dt><dd>${stateLine(texts, controls)}</dd>
      <dt>${texts.alertShort}</dt><dd>${alert === undefined ? texts.off : texts.alertAfter(alert.threshold_minutes)}</dd>
      <dt>${texts.badgeShort}</dt><dd>${badge.public_id === null ? texts.off : texts.badgePublic}</dd></dl></div>`
  )
}

/** Thirty days in figures and a strip; nothing where nothing was measured. */
const record = (texts: Texts, { id }: Tunnel, report: UptimeReport): Markup | undefined => {
  const {
    bytes_in_30d,
    bytes_out_30d,
    days,
    longest_outage_30d_secs: longest,
    sessions_30d,
    uptime,
    visitors_30d
  } = report
  if (uptime === null || report.edge_silent) return undefined
  const outage = longest === null || longest === 0 ? texts.noOutage : texts.longest(durationText(longest))
  const tile = (label: string, figure: string, meaning: string) =>
    markup`<div><dt>${label}</dt><dd>${figure}</dd><dd class="trend">${meaning}</dd></div>`
  return markup`<dl class="tiles">${tile(texts.uptimeOf30, texts.percent(uptime.d30), outage)}${
    visitors_30d === null
      ? undefined
      : tile(texts.visitorsOf30, texts.count(visitors_30d), texts.sessionsOf30(sessions_30d ?? 0))
  }${tile(
    texts.carriedOf30,
    texts.bytes((bytes_in_30d ?? 0) + (bytes_out_30d ?? 0)),
    texts.carriedSplit(texts.bytes(bytes_in_30d ?? 0), texts.bytes(bytes_out_30d ?? 0))
  )}</dl>${
    days.length === 0
      ? undefined
      : section(texts.uptimeTitle, markup`<div class="pad">${DayBars.uptime(texts, days)}</div>`, {
          lead: `${texts.percent(uptime.d30)}. ${outage}${outage.endsWith(".") ? "" : "."}`,
          aside: markup`<a class="small" href="/portal/tunnels/${id}/uptime">${texts.details}</a>`
        })
  }`
}

export const render = (
  texts: Texts,
  tunnel: Tunnel,
  facts: {
    readonly address: string | undefined
    readonly controls: Controls
    readonly report: UptimeReport | undefined
  }
): Markup =>
  markup`<div class="cols equal">${way(texts, tunnel, facts.controls.reach)}${address(texts, tunnel, facts.address, facts.controls)}</div>${
    facts.report === undefined ? undefined : record(texts, tunnel, facts.report)
  }`
