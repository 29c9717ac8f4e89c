/** `/portal/home`: whether all is well, what needs somebody, thirty days of all tunnels; and the first steps of a new account. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
import type { UsageRow } from "@catenet/domain/tunnels/Usage"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Notice } from "../../notices/Notices.ts"
import { kindOf } from "../shell/AgentState.ts"
import * as DayBars from "../shell/DayBars.ts"
import { field, section } from "../shell/Field.ts"
import { icon } from "../shell/Icons.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import * as NoticesPage from "./NoticesPage.ts"

export interface Facts {
  /** The first of them; all where there is usage. */
  readonly tunnels: ReadonlyArray<Tunnel>
  readonly reach: ReadonlyMap<string, Reachability>
  /** Of all tunnels; undefined where they are many or none. */
  readonly usage: { readonly rows: ReadonlyArray<UsageRow>; readonly days: ReadonlyArray<TunnelDay> } | undefined
  readonly notices: ReadonlyArray<Notice>
  readonly now: number
  readonly email: string | null
}

/** Notices of each kind that the page shows; the list has all. */
const shownNotices = 6
const shownTunnels = 5

const health = (texts: Texts, { reach }: Facts) => {
  const kinds = [...reach.values()].map(kindOf)
  const count = (...of: ReadonlyArray<string>) => kinds.filter((kind) => of.includes(kind)).length
  const [up, down, silent] = [count("up"), count("down"), count("unknown")]
  const [seal, sign, title] =
    down > 0
      ? (["bad", "warning", texts.healthDown(down)] as const)
      : silent > 0
        ? (["none", "info", texts.healthUnknown(silent)] as const)
        : (["good", "check", texts.healthGood(up)] as const)
  const tally = (kind: string, word: string, number: number) =>
    markup`<div><dt class="${kind}">${word}</dt><dd>${texts.count(number)}</dd></div>`
  return markup`<section class="panel health"><span class="seal ${seal}">${icon(sign)}</span><div><h2>${title}</h2><p class="soft">${texts.healthText}</p></div>
    <dl class="tally">${tally("up", texts.filters.up, up)}${tally("down", texts.filters.down, down)}${tally("soft", texts.filters.other, kinds.length - up - down)}</dl></section>`
}

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((a, b) => a + b, 0)

const tiles = (texts: Texts, rows: ReadonlyArray<UsageRow>) => {
  const known = (of: (row: UsageRow) => number | null) => rows.map(of).filter((value) => value !== null)
  const shares = known((row) => row.uptime_30d_pct)
  const visitors = known((row) => row.visitors_30d)
  const [received, sent] = [known((row) => row.bytes_in_30d), known((row) => row.bytes_out_30d)]
  const tile = (label: string, figure: string, meaning: string) =>
    markup`<div><dt>${label}</dt><dd>${figure}</dd><dd class="trend">${meaning}</dd></div>`
  if (shares.length === 0) return undefined
  return markup`<dl class="tiles">${tile(texts.uptimeOf30, texts.percent(sum(shares) / shares.length), texts.meanOf(shares.length))}${
    visitors.length === 0 ? undefined : tile(texts.visitorsOf30, texts.count(sum(visitors)), texts.ofAllTunnels)
  }${tile(
    texts.carriedOf30,
    texts.bytes(sum(received) + sum(sent)),
    texts.carriedSplit(texts.bytes(sum(received)), texts.bytes(sum(sent)))
  )}</dl>`
}

const needs = (texts: Texts, notices: ReadonlyArray<Notice>) =>
  section(
    texts.needsTitle,
    notices.length === 0
      ? markup`<p class="pad soft">${texts.needsNone}</p>`
      : markup`<ul class="items">${notices.slice(0, shownNotices).map((notice) => {
          const [sentence, action] = NoticesPage.describe(texts, notice)
          return markup`<li>${icon(notice.kind === "access" || notice.kind === "claim" ? "person" : notice.kind === "grant" ? "clock" : "warning")}<div>${sentence}</div><div class="row">${action}</div></li>`
        })}</ul>`,
    {
      lead: texts.needsLead,
      aside: markup`<a class="small" href="/portal/notices">${texts.allNotices}</a>`
    }
  )

const busiest = (texts: Texts, rows: ReadonlyArray<UsageRow>) => {
  const carried = (row: UsageRow) => (row.bytes_in_30d ?? 0) + (row.bytes_out_30d ?? 0)
  const shown = rows
    .filter((row) => carried(row) > 0)
    .toSorted((a, b) => carried(b) - carried(a))
    .slice(0, shownTunnels)
  return shown.length === 0
    ? undefined
    : section(
        texts.busiest,
        markup`<table><caption class="hidden">${texts.busiest}</caption><thead><tr><th scope="col">${texts.addressTitle}</th><th class="figure" scope="col">${texts.visitors}</th><th class="figure" scope="col">${texts.uptimeTitle}</th><th class="figure" scope="col">${texts.carriedOf30}</th></tr></thead>
          <tbody>${shown.map(
            (row) =>
              markup`<tr><th scope="row"><a class="name mono" href="/portal/tunnels/${row.id}">${row.hostname ?? row.tunnel}</a></th><td class="figure" data-label="${texts.visitors}">${row.visitors_30d === null ? "n/a" : texts.count(row.visitors_30d)}</td><td class="figure" data-label="${texts.uptimeTitle}">${texts.percent(row.uptime_30d_pct)}</td><td class="figure" data-label="${texts.carriedOf30}">${texts.bytes(carried(row))}</td></tr>`
          )}</tbody></table>`
      )
}

/** The first steps, until an agent of a tunnel has been there. */
const start = (texts: Texts, { email, tunnels }: Facts): Markup => {
  const [first] = tunnels
  const step = (kind: "done" | "now" | "", title: string, text: string, more?: Markup) =>
    markup`<li class="${kind}"><div><b>${title}</b><p>${text}</p></div><span></span>${more === undefined ? undefined : markup`<div class="full">${more}</div>`}</li>`
  return markup`<div class="cols"><div class="stack-wide">${section(
    texts.startTitle,
    markup`<ol class="steps">${step("done", texts.startAccount, email ?? texts.withoutEmail)}${
      first === undefined
        ? step(
            "now",
            texts.startName,
            texts.startNameText,
            markup`<form class="inline-form" method="post" action="/portal/tunnels">${field({ name: "name", label: texts.tunnelName, hint: texts.tunnelNameHint })}<button class="primary">${texts.createTunnel}</button></form>`
          )
        : step("done", texts.startName, first.hostname ?? first.name)
    }${step(
      first === undefined ? "" : "now",
      texts.startLine,
      texts.startLineText,
      first === undefined
        ? undefined
        : markup`<a class="button primary" href="/portal/tunnels/${first.id}?tab=agents">${texts.connectTitle}</a>`
    )}${step("", texts.startGreen, texts.startGreenText)}${step("", texts.startVisitors, texts.startVisitorsText)}</ol>`
  )}</div><div class="stack-wide">${section(
    texts.protectedTitle,
    markup`<ul class="items"><li>${icon("gruen")}<div><b>${texts.tierNames.gruen}</b><p>${texts.protectedKey}</p></div></li><li>${icon("shield")}<div><b>${texts.protectedPort}</b><p>${texts.protectedPortText}</p></div></li></ul>`
  )}${section(
    texts.channels,
    markup`<div class="pad"><p class="soft">${texts.startChannel}</p><p><a class="button" href="/portal/channels">${texts.channels}</a></p></div>`
  )}</div></div>`
}

const isNew = ({ reach, tunnels }: Facts) =>
  tunnels.length === 0 ||
  (tunnels.every(({ owned }) => owned) && [...reach.values()].every((each) => kindOf(each) === "idle"))

export const page = (texts: Texts, facts: Facts): Page => {
  const { notices, usage } = facts
  const head = (lead: string) =>
    markup`<div class="head"><div><h1>${texts.home}</h1><p class="head-lead">${lead}</p></div>`
  return {
    title: texts.home,
    area: "home",
    main: isNew(facts)
      ? markup`${head(texts.startLead)}</div>${start(texts, facts)}${notices.length === 0 ? undefined : needs(texts, notices)}`
      : markup`${head(texts.tunnelsFound(facts.tunnels.length))}<a class="button primary" href="/portal/tunnels#new-tunnel">${icon("plus")}${texts.newTunnel}</a></div>
        ${facts.reach.size === 0 ? undefined : health(texts, facts)}${usage === undefined ? undefined : tiles(texts, usage.rows)}${needs(texts, notices)}${
          usage === undefined ? undefined : busiest(texts, usage.rows)
        }${usage === undefined || usage.days.length === 0 ? undefined : DayBars.traffic(texts, usage.days)}`
  }
}
