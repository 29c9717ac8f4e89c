/** `/portal/tunnels`: the tunnels of an account with search, filter and order, and the form for one more. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { TokenSums } from "@catenet/domain/tunnels/TunnelTraffic"
import { type Markup, markup } from "@catenet/platform/Markup"
import { mode, shortState } from "../shell/AgentState.ts"
import { callout, choice, field, type Refused } from "../shell/Field.ts"
import { icon, type Mark, mark } from "../shell/Icons.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { type Filter, type Query, type Selection, urlOf } from "./TunnelSelection.ts"

export interface Facts extends Selection {
  /** Of own tunnels. */
  readonly reach: ReadonlyMap<string, Reachability>
  /** Of own tunnels, where all edges that may have served them answer. */
  readonly sums: ReadonlyMap<string, TokenSums>
  readonly query: Query
  readonly now: number
  readonly refused?: Refused | undefined
}

const visitorsText = (texts: Texts, sums: TokenSums | undefined) =>
  sums === undefined || sums.visitors === null ? "n/a" : texts.count(sums.visitors)

const carriedText = (texts: Texts, sums: TokenSums | undefined) =>
  sums === undefined ? "n/a" : texts.bytes(sums.bytes_in + sums.bytes_out)

/** What the name is, and what else is to be known of the tunnel at a glance. */
const about = (texts: Texts, { hostname, name, owned, require_login }: Tunnel, reach: Reachability | undefined) =>
  [
    ...(hostname === null ? [] : [name]),
    ...(owned ? [] : [texts.shared]),
    ...(require_login ? [texts.loginRequired] : []),
    ...(reach?.state === "origin_silent"
      ? [texts.originFault(reach.fault ?? "", reach.origin ?? texts.someOrigin, reach.http_status ?? 0)]
      : [])
  ].join(" · ")

/** What can be done with the tunnels that are ticked. */
export const bulkActions = ["login-on", "login-off", "delete"] as const

/** The form is not around the table: its boxes name it. */
const bulkId = "bulk"

/** Of a row of the list. */
const box = (texts: Texts, { hostname, id: tunnel, name }: Tunnel): Markup =>
  markup`<input type="checkbox" form="${bulkId}" name="${tunnel}" value="1" aria-label="${texts.chooseNamed(hostname ?? name)}">`

const bar = (texts: Texts): Markup =>
  markup`<div><form class="bulk" id="${bulkId}" method="post" action="/portal/tunnels/bulk" data-bulk>${bulkActions.map(
    (action) =>
      markup`<button name="action" value="${action}"${action === "delete" ? markup` class="danger"` : undefined}>${texts.bulkActions[action]}</button>`
  )}<span class="soft small">${texts.bulkHint}</span></form></div>`

/** Asks once more before the chosen tunnels are deleted. */
export const bulkDelete = (texts: Texts, tunnels: ReadonlyArray<Tunnel>): Page => ({
  title: texts.bulkDelete(tunnels.length),
  area: "tunnels",
  crumbs: [["/portal/tunnels", texts.tunnels]],
  main: markup`<section class="panel danger-zone narrow-page"><header><h1>${texts.bulkDelete(tunnels.length)}</h1></header>
    <form class="pad" method="post" action="/portal/tunnels/bulk"><ul class="plain">${tunnels.map(
      (tunnel) =>
        markup`<li class="mono">${tunnel.hostname ?? tunnel.name}<input type="hidden" name="${tunnel.id}" value="1"></li>`
    )}</ul><p class="soft">${texts.deleteText}</p><input type="hidden" name="confirm" value="1">
      <p class="row"><button class="danger" name="action" value="delete">${icon("warning")}${texts.bulkDelete(tunnels.length)}</button><a class="button" href="/portal/tunnels">${texts.cancel}</a></p></form></section>`
})

const row = (
  texts: Texts,
  tunnel: Tunnel,
  { now, reach, sums }: Pick<Facts, "reach" | "sums" | "now">,
  ticks: boolean
) => {
  const { hostname, id, name, owned } = tunnel
  const found = reach.get(id)
  return markup`<tr>${ticks ? markup`<td class="tick">${owned ? box(texts, tunnel) : undefined}</td>` : undefined}<td class="state-cell">${shortState(texts, found, now, owned ? id : undefined)}</td>
    <th scope="row" class="main-cell"><span class="two"><a class="name mono" href="/portal/tunnels/${id}" title="${hostname ?? name}">${hostname ?? name}</a><small>${about(texts, tunnel, found)}</small></span></th>
    <td class="mode-cell">${mode(texts, tunnel)}</td><td class="figure" data-label="${texts.visitorsOf30}">${visitorsText(texts, sums.get(id))}</td><td class="figure" data-label="${texts.carriedOf30}">${carriedText(texts, sums.get(id))}</td></tr>`
}

const signs: ReadonlyArray<readonly [Filter, Mark | undefined]> = [
  ["all", undefined],
  ["up", "up"],
  ["down", "down"],
  ["other", "idle"]
]

const filters = (texts: Texts, { counts, query }: Facts) =>
  markup`<form class="filters" role="search" method="get" action="/portal/tunnels?" aria-label="${texts.tunnels}">
    <div class="search">${icon("search")}<label for="q" class="hidden">${texts.findTunnel}</label><input id="q" name="q" type="search" value="${query.q}" placeholder="${texts.findTunnel}"></div>
    ${query.state === "all" ? undefined : markup`<input type="hidden" name="state" value="${query.state}">`}${
      query.sort === "state" ? undefined : markup`<input type="hidden" name="sort" value="${query.sort}">`
    }<button class="hidden">${texts.find}</button>
    ${
      counts === undefined
        ? undefined
        : markup`<nav class="segments" aria-label="${texts.columnState}">${signs.map(
            ([filter, sign]) =>
              markup`<a href="${urlOf(query, { state: filter })}"${filter === query.state ? markup` aria-current="true"` : undefined}>${
                sign === undefined ? undefined : mark(sign)
              }${texts.filters[filter]} <span class="n">${texts.count(counts[filter])}</span></a>`
          )}</nav>`
    }</form>`

/** The head of a column by which the list can be sorted. */
const sorted = ({ counts, query }: Facts, sort: Query["sort"], title: string) =>
  counts === undefined
    ? markup`<th scope="col">${title}</th>`
    : query.sort === sort
      ? markup`<th scope="col" aria-sort="${sort === "state" ? "descending" : "ascending"}"><a href="${urlOf(query, { sort })}">${title}${icon("down")}</a></th>`
      : markup`<th scope="col"><a href="${urlOf(query, { sort })}">${title}</a></th>`

const foot = (texts: Texts, { isFirst, next, total, tunnels }: Facts) =>
  markup`<footer><span>${total === undefined ? texts.tunnelsLead(tunnels.length) : texts.tunnelsFound(total)}</span><span class="row">${
    isFirst ? undefined : markup`<a href="/portal/tunnels">${texts.first}</a>`
  }${next === undefined ? undefined : markup`<a rel="next" href="${next}">${texts.next}</a>`}</span></footer>`

/** Where there are several, some of them can be ticked. */
const list = (texts: Texts, facts: Facts) => {
  const ticks = facts.tunnels.filter(({ owned }) => owned).length > 1
  return markup`<section class="panel list" aria-label="${texts.tunnels}">${filters(texts, facts)}${
    facts.tunnels.length === 0
      ? markup`<p class="pad soft">${facts.query.q === "" && facts.query.state === "all" ? texts.noFurtherTunnels : texts.nothingFound} <a href="/portal/tunnels">${texts.showAll}</a></p>`
      : markup`<table class="tunnels"><caption class="hidden">${texts.tunnels}</caption>
    <thead><tr>${ticks ? markup`<td></td>` : undefined}${sorted(facts, "state", texts.columnState)}${sorted(facts, "name", texts.addressTitle)}
      <th scope="col">${texts.columnMode}</th><th class="figure" scope="col">${texts.visitorsOf30}</th>
      <th class="figure" scope="col">${texts.carriedOf30}</th></tr></thead>
    <tbody>${facts.tunnels.map((tunnel) => row(texts, tunnel, facts, ticks))}</tbody>
  </table>${ticks ? bar(texts) : undefined}${foot(texts, facts)}`
  }</section>`
}

/** What a new tunnel is for; `tls` is a TCP service whose TLS the edge ends. */
export const kinds = ["http", "tcp", "tls", "udp"] as const

const form = (texts: Texts, { refused }: Facts): Markup =>
  markup`<form class="panel pad" method="post" action="/portal/tunnels" aria-labelledby="new-tunnel">
    <h2 id="new-tunnel">${texts.newTunnel}</h2>
    ${field({ name: "name", label: texts.tunnelName, hint: texts.tunnelNameHint, refused })}
    ${choice({ name: "kind", label: texts.tunnelKind, options: kinds.map((kind) => [kind, texts.tunnelKinds[kind]]) })}
    <button class="primary">${texts.createTunnel}</button>
  </form>`

export const page = (texts: Texts, facts: Facts): Page => {
  const { hasAny, reach, refused } = facts
  const states = [...reach.values()]
  const reached = states.filter(({ state }) => state === "up").length
  return {
    title: texts.tunnels,
    area: "tunnels",
    main: markup`<div class="head"><div><h1>${texts.tunnels}</h1><p class="head-lead">${
      !hasAny ? texts.noTunnels : states.length === 0 ? undefined : texts.reachLead(reached, states.length)
    }</p></div>
        ${
          !hasAny || refused !== undefined
            ? undefined
            : markup`<div class="row"><a class="button" href="/portal/usage.csv">${icon("download")}${texts.exportCsv}</a><a class="button primary" href="#new-tunnel">${icon("plus")}${texts.newTunnel}</a></div>`
        }</div>
      ${states.some(({ state }) => state === "edge_silent") ? callout("warn", "warning", markup`<p>${texts.edgeSilent}</p>`) : undefined}
      ${refused === undefined ? undefined : form(texts, facts)}
      ${hasAny ? list(texts, facts) : undefined}
      ${refused === undefined ? form(texts, facts) : undefined}`
  }
}
