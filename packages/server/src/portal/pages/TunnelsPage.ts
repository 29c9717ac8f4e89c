/** `/portal/tunnels`: the tunnels of an account, and the form for one more. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { TokenSums } from "@catenet/domain/tunnels/TunnelTraffic"
import { markup } from "@catenet/platform/Markup"
import { field, type Refused } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { mode, state } from "./AgentState.ts"

export interface Facts {
  readonly tunnels: ReadonlyArray<Tunnel>
  /** Of own tunnels. */
  readonly reach: ReadonlyMap<string, Reachability>
  /** Of own tunnels, where all edges that may have served them answer. */
  readonly sums: ReadonlyMap<string, TokenSums>
  /** Where the list goes on, and whether it began before this page. */
  readonly next: string | undefined
  readonly isFirst: boolean
  readonly refused?: Refused | undefined
}

const visitorsText = (texts: Texts, sums: TokenSums | undefined) =>
  sums === undefined || sums.visitors === null ? "n/a" : texts.count(sums.visitors)

const carriedText = (texts: Texts, sums: TokenSums | undefined) =>
  sums === undefined ? "n/a" : texts.bytes(sums.bytes_in + sums.bytes_out)

const row = (
  texts: Texts,
  { hostname, id, kind, name, owned, port, require_login, status }: Tunnel,
  { reach, sums }: Pick<Facts, "reach" | "sums">
) =>
  markup`<tr><th scope="row"><a class="mono" href="/portal/tunnels/${id}">${hostname ?? name}</a><span class="sub">${hostname !== null ? name : port === null ? texts.noHostname : `${kind.toUpperCase()} ${port}`}${owned ? undefined : ` · ${texts.shared}`}${
    require_login ? ` · ${texts.loginRequired}` : undefined
  }</span></th><td data-label="${texts.columnState}">${state(texts, reach.get(id), owned ? id : undefined)}</td><td data-label="${texts.columnCertificate}">${mode(texts, { hostname, status })}</td><td class="figure" data-label="${texts.visitorsOf30}">${visitorsText(texts, sums.get(id))}</td><td class="figure" data-label="${texts.carriedOf30}">${carriedText(texts, sums.get(id))}</td></tr>`

/** Of all tunnels of the account: where the list is whole, and edges say something of them. */
const figures = (texts: Texts, { isFirst, next, reach, sums }: Facts) => {
  if (!isFirst || next !== undefined || reach.size === 0) return undefined
  const known = [...sums.values()]
  const visitors = known.flatMap((each) => each.visitors ?? [])
  const total = (numbers: ReadonlyArray<number>) => numbers.reduce((a, b) => a + b, 0)
  const reached = [...reach.values()].filter(({ state }) => state === "up").length
  const shown = [
    [texts.reachableNow, `${texts.count(reached)} / ${texts.count(reach.size)}`],
    [texts.visitors30, visitors.length === 0 ? "n/a" : texts.count(total(visitors))],
    [
      texts.carried30,
      known.length === 0 ? "n/a" : texts.bytes(total(known.map((each) => each.bytes_in + each.bytes_out)))
    ]
  ] as const
  return markup`<dl class="tiles">${shown.map(
    ([label, value]) => markup`<div><dt>${label}</dt><dd>${value}</dd></div>`
  )}</dl>`
}

const table = (texts: Texts, facts: Facts) =>
  markup`<div class="panel list"><table>
    <thead><tr><th scope="col">${texts.columnName}</th><th scope="col">${texts.columnState}</th>
      <th scope="col">${texts.columnCertificate}</th><th class="figure" scope="col">${texts.visitorsOf30}</th>
      <th class="figure" scope="col">${texts.carriedOf30}</th></tr></thead>
    <tbody>${facts.tunnels.map((tunnel) => row(texts, tunnel, facts))}</tbody>
  </table></div>`

const form = (texts: Texts, { refused }: Facts) =>
  markup`<form class="panel pad" method="post" action="/portal/tunnels" aria-labelledby="new-tunnel">
    <h2 id="new-tunnel">${texts.newTunnel}</h2>
    ${field({ name: "name", label: texts.tunnelName, hint: texts.tunnelNameHint, refused })}
    <button class="primary">${texts.createTunnel}</button>
  </form>`

export const page = (texts: Texts, facts: Facts): Page => {
  const { isFirst, next, tunnels } = facts
  const lead =
    tunnels.length > 0 ? texts.tunnelsLead(tunnels.length) : isFirst ? texts.noTunnels : texts.noFurtherTunnels
  const states = [...facts.reach.values()]
  const reached = states.filter(({ state }) => state === "up").length
  return {
    title: texts.tunnels,
    area: "tunnels",
    main: markup`<div class="head"><div><h1>${texts.tunnels}</h1><p class="lead">${lead}${states.length === 0 ? undefined : ` ${texts.reachLead(reached, states.length)}`}</p></div>
        ${tunnels.length === 0 || facts.refused !== undefined ? undefined : markup`<a class="button primary" href="#new-tunnel">${texts.newTunnel}</a>`}</div>
      ${[...facts.reach.values()].some(({ state }) => state === "edge_silent") ? markup`<p class="panel notice">${texts.edgeSilent}</p>` : undefined}
      ${facts.refused === undefined ? undefined : form(texts, facts)}
      ${tunnels.length === 0 ? undefined : markup`${figures(texts, facts)}${table(texts, facts)}`}
      ${
        next === undefined && isFirst
          ? undefined
          : markup`<p>${isFirst ? undefined : markup`<a href="/portal/tunnels">${texts.first}</a> `}${
              next === undefined ? undefined : markup`<a rel="next" href="${next}">${texts.next}</a>`
            }</p>`
      }
      ${facts.refused === undefined ? form(texts, facts) : undefined}`
  }
}
