/** What is set once: the name, the proof of an own domain, the alert, receipts and the bridge, and what ends things. */
import type { DnsRecord } from "@catenet/domain/tunnels/HostnameOwnership"
import type { ReceiptKey } from "@catenet/domain/tunnels/Receipt"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { isWildcard } from "@catenet/domain/values/Hostname"
import { markup } from "@catenet/platform/Markup"
import { Option } from "effect"
import type { Answer } from "../../../edges/EdgeFacts.ts"
import { button, choice, field, more, section, type Sent, valuesOf } from "../../shell/Field.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"
import type { Controls } from "./Controls.ts"

const naming = (texts: Texts, { id, name }: Tunnel, sent: Sent | undefined) =>
  section(
    texts.renameTitle,
    markup`<div class="pad"><form class="inline-form" method="post" action="/portal/tunnels/${id}/rename">
      ${field({ ...valuesOf(texts, sent, "rename")("name", name), label: texts.tunnelNewName })}
      <button>${texts.renameButton}</button></form></div>`,
    { lead: texts.nameLead }
  )

/** A host name of the owner's own: the field for it, the records that prove it, or that it is proved. */
const domain = (texts: Texts, { hostname_proof: proof, id, kind }: Tunnel, sent: Sent | undefined) => {
  if (kind !== "http") return undefined
  const own = `/portal/tunnels/${id}`
  if (proof === null || sent?.form === "hostname")
    return section(
      texts.domainTitle,
      markup`<div class="pad"><form class="inline-form" method="post" action="${own}/hostname">
      ${field({ ...valuesOf(texts, sent, "hostname")("hostname"), label: texts.domainName, hint: texts.domainHint })}
      <button>${texts.domainAsk}</button></form></div>`,
      { lead: texts.domainLead, id: "domain" }
    )
  const cell = (label: string, text: string) =>
    markup`<td data-label="${label}"><code data-copy="${texts.copy}" data-copied="${texts.copied}">${text}</code></td>`
  const line = ({ name, type, value }: DnsRecord) =>
    markup`<tr><th scope="row" data-label="${texts.recordType}">${type}</th>${cell(texts.recordName, name)}${cell(texts.recordValue, value)}</tr>`
  const { certificate } = proof
  const delegation = !isWildcard(proof.hostname)
    ? undefined
    : certificate === undefined
      ? markup`<p class="pad">${texts.domainNoBroker}</p>`
      : markup`<p class="pad">${texts.domainCertificate}</p><table><caption class="hidden">${texts.domainTitle}</caption><tbody>${line(certificate)}</tbody></table>`
  const giveUp = (text: string) => button(`${own}/hostname/remove`, text)
  if (proof.state === "proved")
    return section(texts.domainTitle, markup`<p class="pad">${texts.proofProved(proof.hostname)}</p>${delegation}`, {
      id: "domain",
      aside: giveUp(texts.domainGiveUp)
    })
  return section(
    texts.domainTitle,
    markup`<table data-check="${own}/verify-hostname"><caption class="hidden">${texts.proofTitle}</caption><thead><tr><th scope="col">${texts.recordType}</th><th scope="col">${texts.recordName}</th><th scope="col">${texts.recordValue}</th></tr></thead>
      <tbody>${proof.records.map(line)}</tbody></table>${delegation}
      <footer><span>${texts.proofLive}${proof.checked_at === null ? undefined : markup` ${texts.proofChecked} ${timestamp(proof.checked_at)}`}</span></footer>`,
    {
      lead: texts.proofText(proof.hostname),
      id: "domain",
      aside: markup`<div class="row">${button(`${own}/verify-hostname`, texts.proofButton)}${giveUp(texts.domainCancel)}</div>`
    }
  )
}

/** Where the alert goes, how it stands, and its last deliveries. */
const delivery = (texts: Texts, { at, detail, event, status }: Controls["deliveries"][number]) =>
  markup`<tr><th scope="row">${timestamp(at)}</th><td><code>${event}</code></td><td>${texts.deliveryStates[status]}${
    // What was not sent says so itself.
    detail === texts.deliveryStates[status]
      ? undefined
      : markup`<span class="sub">${texts.deliveryDetail(detail)}</span>`
  }</td></tr>`

const alerting = (texts: Texts, { id }: Tunnel, { alert, deliveries }: Controls, sent: Sent | undefined) => {
  const values = valuesOf(texts, sent, "alert")
  const own = `/portal/tunnels/${id}/alert`
  return section(
    texts.alertTitle,
    markup`<div class="pad">${
      alert === undefined
        ? markup`<p class="hint">${texts.alertNone}</p>`
        : markup`<dl class="pairs"><dt>${texts.alertState}</dt><dd>${texts.alertStates[alert.state]}, ${timestamp(alert.since)}</dd></dl>`
    }
    <form class="inline-form" method="post" action="${own}">
      ${field({ ...values("webhook_url", alert?.webhook_url), type: "url", label: texts.alertUrl })}
      ${field({ ...values("threshold_minutes", String(alert?.threshold_minutes ?? 5)), type: "number", label: texts.alertMinutes })}
      <button>${texts.alertSave}</button></form>
    ${
      alert === undefined || deliveries.length === 0
        ? undefined
        : markup`<h3>${texts.deliveriesTitle}</h3><table><tbody>${deliveries.map((each) => delivery(texts, each))}</tbody></table>`
    }</div>`,
    {
      lead: texts.alertLead,
      id: "alert",
      aside:
        alert === undefined
          ? undefined
          : markup`<div class="row">${button(`${own}/test`, texts.alertTest)}${button(`${own}/delete`, texts.alertDelete)}</div>`
    }
  )
}

/** The receipts: the download, and the line that verifies it by the edge's key and not by the file's own word. */
const keyOf = (texts: Texts, id: string, { edge_id, pubkey }: ReceiptKey) =>
  markup`<dl class="pairs"><dt>${texts.receiptKeyOf(edge_id)}</dt><dd class="mono">${pubkey}</dd></dl>
    <pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">catenet receipts verify receipts-${id}.jsonl --key ${pubkey}</pre>`

const receipts = (texts: Texts, id: string, { known, silent }: Answer<ReadonlyArray<ReceiptKey>>) => {
  const keys = Option.getOrElse(known, () => [])
  return more(
    texts.receiptsTitle,
    undefined,
    markup`<p class="hint">${texts.receiptsText} <a href="/portal/receipts">${texts.verifyReceipts}</a></p>
    <form method="get" action="/portal/tunnels/${id}/receipts.jsonl">
      ${field({ name: "since", type: "number", value: "0", label: texts.receiptsSince, hint: texts.receiptsSinceHint })}
      <button>${texts.receipts}</button></form>
    ${keys.map((key) => keyOf(texts, id, key))}
    ${silent.length > 0 ? markup`<p class="hint">${texts.receiptKeySilent(silent.join(", "))}</p>` : undefined}
    ${keys.length === 0 && silent.length === 0 ? markup`<p class="hint">${texts.receiptKeyNone}</p>` : undefined}`,
    { id: "receipts" }
  )
}

/** Whether and how the operator's bridge may reach the agent behind a tunnel. */
const bridge = (texts: Texts, { bridge_mode, id }: Tunnel, sent: Sent | undefined) =>
  more(
    texts.bridgeTitle,
    texts.bridgeModes[bridge_mode],
    markup`<p class="hint">${texts.bridgeText}</p>
    <form method="post" action="/portal/tunnels/${id}/agent-bridge">
      ${choice({
        ...valuesOf(texts, sent, "bridge")("mode", bridge_mode),
        label: texts.bridgeMode,
        options: [
          ["off", texts.bridgeModes.off],
          ["ephemeral", texts.bridgeModes.ephemeral],
          ["permanent", texts.bridgeModes.permanent]
        ]
      })}
      <button>${texts.bridgeSave}</button></form>`,
    { id: "bridge", isOpen: sent?.form === "bridge" }
  )

const danger = (texts: Texts, { id }: Tunnel) => {
  const part = (title: string, text: string, path: string, doing: string) =>
    markup`<div class="setting"><div><b>${title}</b><p>${text}</p></div><a class="button danger" href="/portal/tunnels/${id}/${path}">${doing}</a></div>`
  return section(
    texts.dangerZone,
    markup`<div>${part(texts.rotateTitle, texts.rotateShort, "rotate-token", texts.rotateDo)}
      ${part(texts.deleteTitle, texts.deleteText, "delete", texts.deleteDo)}</div>`,
    { kind: "danger-zone" }
  )
}

export const render = (texts: Texts, tunnel: Tunnel, controls: Controls, sent: Sent | undefined) =>
  markup`<div class="stack-wide narrow-page">${naming(texts, tunnel, sent)}${domain(texts, tunnel, sent)}${alerting(texts, tunnel, controls, sent)}<section class="panel">${bridge(texts, tunnel, sent)}${receipts(
    texts,
    tunnel.id,
    controls.receiptKeys
  )}</section>${danger(texts, tunnel)}</div>`
