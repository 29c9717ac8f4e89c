/** `/operators`: the platform as its operators see it. */
import type { ReportedEdge } from "@catenet/domain/edges/EdgeNode"
import { type Limited, limited as things } from "@catenet/domain/identity/AccountLimits"
import type { AuditEntry } from "@catenet/domain/values/AuditEffect"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { LimitedAccount } from "../../accounts/Accounts.ts"
import type { Waiting } from "../../certificates/CertificateQueue.ts"
import type { Health } from "../../edges/EdgeHealth.ts"
import type { RefusedOrder } from "../../edges/RefusedOrders.ts"
import { button, choice, field, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"

export interface Facts {
  readonly edges: ReadonlyArray<ReportedEdge>
  readonly health: ReadonlyMap<string, Health>
  readonly refused: ReadonlyArray<RefusedOrder>
  readonly limited: ReadonlyArray<LimitedAccount>
  readonly defaults: Readonly<Record<Limited, number>>
  readonly waiting: ReadonlyArray<Waiting>
  readonly log: ReadonlyArray<AuditEntry>
  /** Where the log goes on. */
  readonly older: number | undefined
  readonly sent: Sent | undefined
}

const table = (title: string, none: string, heads: ReadonlyArray<string>, rows: ReadonlyArray<Markup>) =>
  markup`<section class="panel list"><h2>${title}</h2>${
    rows.length === 0
      ? markup`<p class="hint">${none}</p>`
      : markup`<table><thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`
  }</section>`

const healthOf = (texts: Texts, { edge_id, live }: ReportedEdge, health: Facts["health"]) => {
  const found = health.get(edge_id)
  if (found === undefined) return live ? texts.edgeHealth.unasked : texts.edgeHealth.gone
  switch (found._tag) {
    case "Healthy":
      return texts.edgeHealth.healthy
    case "Stalled":
      return texts.edgeStalled(found.loops.join(", "))
    case "Silent":
      return texts.edgeHealth.silent
  }
}

const edges = (texts: Texts, facts: Facts) => {
  const rows = facts.edges.map(
    (edge) => markup`<tr><th scope="row" class="mono">${edge.edge_id}</th>
      <td data-label="${texts.edgeAddress}"><code>${edge.peer_addr}</code></td>
      <td data-label="${texts.edgeSeen}">${timestamp(edge.seen_at)}</td>
      <td data-label="${texts.edgeHealthTitle}">${healthOf(texts, edge, facts.health)}</td></tr>`
  )
  // An edge of the settings that has sent no heartbeat is asked all the same.
  const unreported = [...facts.health.keys()].filter((id) => facts.edges.every(({ edge_id }) => edge_id !== id))
  const others = unreported.map((id) => {
    const found = facts.health.get(id)
    const health =
      found?._tag === "Stalled"
        ? texts.edgeStalled(found.loops.join(", "))
        : texts.edgeHealth[found?._tag === "Healthy" ? "healthy" : "silent"]
    return markup`<tr><th scope="row" class="mono">${id}</th><td data-label="${texts.edgeAddress}">–</td>
      <td data-label="${texts.edgeSeen}">${texts.never}</td><td data-label="${texts.edgeHealthTitle}">${health}</td></tr>`
  })
  const heads = [texts.columnName, texts.edgeAddress, texts.edgeSeen, texts.edgeHealthTitle]
  return table(texts.edgesTitle, texts.edgesNone, heads, [...rows, ...others])
}

const orders = (texts: Texts, { refused }: Facts) =>
  table(
    texts.ordersTitle,
    texts.ordersNone,
    [texts.auditAction, texts.orderTunnel, texts.orderEdge, texts.orderWhy, texts.orderAgain],
    refused.map(
      ({ edge, hostname, id, kind, refusal, refusedAt, tunnel }) =>
        markup`<tr><th scope="row"><code>${kind}</code><span class="sub">${timestamp(refusedAt)}</span></th>
          <td data-label="${texts.orderTunnel}" class="mono">${tunnel ?? texts.orderTunnelGone}${hostname === null ? undefined : markup`<span class="sub">${hostname}</span>`}</td>
          <td data-label="${texts.orderEdge}" class="mono">${edge}</td><td data-label="${texts.orderWhy}">${refusal}</td>
          <td>${button(`/operators/orders/${id}/resend`, texts.orderResend(String(id)))}</td></tr>`
    )
  )

const limits = (texts: Texts, { defaults, limited, sent }: Facts) => {
  const values = valuesOf(texts, sent, "limit")
  const rows = limited.map(
    ({ email, maxChannels, maxHosts, maxPorts, maxRules, maxTunnels, subject, tunnels }) =>
      markup`<tr><th scope="row" class="mono">${subject}<span class="sub">${email ?? texts.withoutEmail}</span></th>
        <td data-label="${texts.limits.tunnels}">${texts.count(maxTunnels ?? defaults.tunnels)}<span class="sub">${texts.limitUsed(tunnels)}</span></td>
        <td data-label="${texts.limits.channels}">${texts.count(maxChannels ?? defaults.channels)}</td>
        <td data-label="${texts.limits.ports}">${texts.count(maxPorts ?? defaults.ports)}</td>
        <td data-label="${texts.limits.hosts}">${texts.count(maxHosts ?? defaults.hosts)}</td>
        <td data-label="${texts.limits.rules}">${texts.count(maxRules ?? defaults.rules)}</td></tr>`
  )
  return markup`${table(texts.limitsTitle, texts.limitsNone, [texts.account, ...things.map((what) => texts.limits[what])], rows)}
    <form class="panel pad" method="post" action="/operators/limits" aria-labelledby="limit"><h2 id="limit">${texts.limitSet}</h2>
      <p class="hint">${texts.limitsText(defaults)}</p>
      ${field({ ...values("subject"), label: texts.grantee, hint: texts.granteeHint })}
      ${choice({
        ...values("what", "tunnels"),
        label: texts.limitWhat,
        options: things.map((what) => [what, texts.limits[what]] as const)
      })}
      ${field({ ...values("max"), type: "number", isOptional: true, label: texts.limitMax, hint: texts.limitMaxHint })}
      <button>${texts.limitSet}</button></form>`
}

const queue = (texts: Texts, { waiting }: Facts) =>
  table(
    texts.queueTitle,
    texts.queueNone,
    [texts.columnName, texts.queueState, texts.queueAt, texts.queueAuthority, texts.queueLapses],
    waiting.map(
      ({ at, ca, claim, hostname, lapses }) =>
        markup`<tr><th scope="row" class="mono">${hostname}</th><td data-label="${texts.queueState}">${texts.queueStates[claim]}</td>
          <td data-label="${texts.queueAt}">${timestamp(at)}</td><td data-label="${texts.queueAuthority}">${ca ?? "–"}</td>
          <td data-label="${texts.queueLapses}">${texts.count(lapses)}</td></tr>`
    )
  )

const log = (texts: Texts, { log: entries, older }: Facts) => {
  const rows = entries.map(
    ({ action, actor, at, detail, target }) =>
      markup`<tr><th scope="row">${timestamp(at)}</th><td data-label="${texts.logActor}" class="mono">${actor}</td>
        <td data-label="${texts.auditAction}"><code class="word">${action}</code></td>
        <td data-label="${texts.auditTarget}" class="mono">${target}<span class="sub">${detail}</span></td></tr>`
  )
  return markup`<div id="log">${table(
    texts.logTitle,
    texts.auditNone,
    [texts.auditAt, texts.logActor, texts.auditAction, texts.auditTarget],
    rows
  )}${older === undefined ? undefined : markup`<p><a href="/operators?before=${String(older)}#log">${texts.logOlder}</a></p>`}</div>`
}

export const page = (texts: Texts, facts: Facts): Page => ({
  title: texts.operatorsTitle,
  area: "operators",
  main: markup`<div class="head"><div><h1>${texts.operatorsTitle}</h1><p class="lead">${texts.operatorsLead}</p></div></div>
    ${edges(texts, facts)}${orders(texts, facts)}${limits(texts, facts)}${queue(texts, facts)}${log(texts, facts)}`
})
