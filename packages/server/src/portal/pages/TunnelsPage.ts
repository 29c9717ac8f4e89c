/** `/portal/tunnels`: the tunnels of an account, and the form for one more. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { TokenSums } from "@catenet/domain/tunnels/TunnelTraffic"
import { bytesText } from "@catenet/domain/values/Format"
import { markup } from "@catenet/domain/values/Markup"
import { field, type Refused } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { state } from "./AgentState.ts"

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

const sumsText = (sums: TokenSums | undefined) =>
  sums === undefined
    ? "n/a"
    : `${sums.visitors === null ? "n/a" : String(sums.visitors)}, ${bytesText(sums.bytes_in + sums.bytes_out)}`

const row = (
  texts: Texts,
  { hostname, id, name, owned, require_login, status }: Tunnel,
  { reach, sums }: Pick<Facts, "reach" | "sums">
) =>
  markup`<tr>
    <th scope="row"><a class="mono" href="/portal/tunnels/${id}">${hostname ?? name}</a>
      <span class="sub">${hostname === null ? texts.noHostname : name}${owned ? undefined : ` · ${texts.shared}`}</span></th>
    <td data-label="${texts.columnCertificate}"><span class="tier ${status}">${status}</span></td>
    <td data-label="${texts.columnLogin}">${require_login ? texts.loginRequired : texts.loginOpen}</td>
    <td data-label="${texts.visitorsAndBytes}">${sumsText(sums.get(id))}</td>
    <td data-label="${texts.columnState}">${state(texts, reach.get(id), owned ? id : undefined)}</td>
  </tr>`

const table = (texts: Texts, facts: Facts) =>
  markup`<div class="panel list"><table>
    <thead><tr><th scope="col">${texts.columnName}</th><th scope="col">${texts.columnCertificate}</th>
      <th scope="col">${texts.columnLogin}</th><th scope="col">${texts.visitorsAndBytes}</th>
      <th scope="col">${texts.columnState}</th></tr></thead>
    <tbody>${facts.tunnels.map((tunnel) => row(texts, tunnel, facts))}</tbody>
  </table></div>`

const form = (texts: Texts, { refused }: Facts) =>
  markup`<form class="panel" method="post" action="/portal/tunnels" aria-labelledby="new-tunnel">
    <h2 id="new-tunnel">${texts.newTunnel}</h2>
    ${field({ name: "name", label: texts.tunnelName, hint: texts.tunnelNameHint, refused })}
    <button class="main-action">${texts.createTunnel}</button>
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
    main: markup`<div class="head"><div><h1>${texts.tunnels}</h1><p class="lead">${lead}${states.length === 0 ? undefined : ` ${texts.reachLead(reached, states.length)}`}</p></div></div>
      ${[...facts.reach.values()].some(({ state }) => state === "edge_silent") ? markup`<p class="panel notice">${texts.edgeSilent}</p>` : undefined}
      ${facts.refused === undefined ? undefined : form(texts, facts)}
      ${tunnels.length === 0 ? undefined : table(texts, facts)}
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
