/** `/portal/tunnels/:id`: everything of one tunnel. A grantee sees what it is and how to connect an agent, no more. */
import type { ReceiptKey } from "@catenet/domain/tunnels/Receipt"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { type Markup, markup } from "@catenet/platform/Markup"
import { Option } from "effect"
import type { Answer } from "../../edges/EdgeFacts.ts"
import { button, checkbox, choice, field, panel, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"
import { state } from "./AgentState.ts"
import * as ConnectPage from "./ConnectPage.ts"
import * as AccessPanel from "./tunnel/AccessPanel.ts"
import * as BadgePanel from "./tunnel/BadgePanel.ts"
import * as CertificatePanel from "./tunnel/CertificatePanel.ts"
import type { Controls } from "./tunnel/Controls.ts"
import * as LoginPanel from "./tunnel/LoginPanel.ts"
import * as VerifyReceiptsPage from "./VerifyReceiptsPage.ts"

/** The share links of a tunnel: those there are, and the form for one more. */
const row = (texts: Texts, id: string, link: Controls["links"][number]) => {
  const name = link.label ?? link.id.slice(0, 8)
  return markup`<tr><th scope="row">${name}${link.single_use ? markup`<span class="sub">${texts.shareSingle}</span>` : undefined}</th>
    <td data-label="${texts.columnState}">${texts.shareStates[link.state]}</td><td data-label="${texts.inviteExpires}">${timestamp(link.expires_at)}</td><td class="actions">${
      link.state === "active" || link.state === "opened"
        ? button(
            `/portal/tunnels/${id}/share-links/${link.id}/revoke`,
            texts.shareEnd,
            undefined,
            texts.shareRevoke(name)
          )
        : undefined
    }</td></tr>`
}

const renderSharePanel = (
  texts: Texts,
  { hostname, id, require_login, status }: Tunnel,
  { links }: Controls,
  sent: Sent | undefined
) => {
  const values = valuesOf(texts, sent, "share")
  const form = markup`<form method="post" action="/portal/tunnels/${id}/share-links">
    ${choice({
      ...values("ttl", "1h"),
      label: texts.shareTtl,
      options: [
        ["1h", texts.hour],
        ["24h", texts.day],
        ["7d", texts.week]
      ]
    })}
    ${field({ ...values("label"), label: texts.shareLabel, hint: texts.shareLabelHint, isOptional: true })}
    ${checkbox({ name: "single_use", label: texts.shareSingle })}
    <button>${texts.shareButton}</button></form>`
  return panel(
    texts.shareTitle,
    markup`${
      links.length === 0
        ? undefined
        : markup`<table><thead><tr><th scope="col">${texts.columnName}</th><th scope="col">${texts.columnState}</th><th scope="col">${texts.inviteExpires}</th><td></td></tr></thead>
        <tbody>${links.map((link) => row(texts, id, link))}</tbody></table>`
    }
      ${require_login && hostname !== null && status !== "rot" ? form : markup`<p class="hint">${texts.shareNeeds}</p>`}`,
    "share"
  )
}

/** The alert of a tunnel: where it goes, how it stands, and its last deliveries. */
const delivery = (texts: Texts, { at, detail, event, status }: Controls["deliveries"][number]) =>
  markup`<tr><th scope="row">${timestamp(at)}</th><td><code>${event}</code></td><td>${texts.deliveryStates[status]}${
    // What was not sent says so itself.
    detail === texts.deliveryStates[status]
      ? undefined
      : markup`<span class="sub">${texts.deliveryDetail(detail)}</span>`
  }</td></tr>`

const renderAlertPanel = (texts: Texts, { id }: Tunnel, { alert, deliveries }: Controls, sent: Sent | undefined) => {
  const values = valuesOf(texts, sent, "alert")
  const own = `/portal/tunnels/${id}/alert`
  return panel(
    texts.alertTitle,
    markup`${
      alert === undefined
        ? markup`<p class="hint">${texts.alertNone}</p>`
        : markup`<dl class="pairs"><dt>${texts.alertState}</dt><dd>${texts.alertStates[alert.state]}, ${timestamp(alert.since)}</dd></dl>`
    }
    <form method="post" action="${own}">
      ${field({ ...values("webhook_url", alert?.webhook_url), type: "url", label: texts.alertUrl })}
      ${field({ ...values("threshold_minutes", String(alert?.threshold_minutes ?? 5)), type: "number", label: texts.alertMinutes })}
      <button>${texts.alertSave}</button></form>
    ${
      alert === undefined
        ? undefined
        : markup`<div class="row">${button(`${own}/test`, texts.alertTest)}${button(`${own}/delete`, texts.alertDelete)}</div>
            ${
              deliveries.length === 0
                ? undefined
                : markup`<h3>${texts.deliveriesTitle}</h3><table><tbody>${deliveries.map((each) => delivery(texts, each))}</tbody></table>`
            }`
    }`,
    "alert"
  )
}

/** The receipts of a tunnel: the download, and the line that verifies it by the edge's key and not by the file's own word. */
const keyOf = (texts: Texts, id: string, { edge_id, pubkey }: ReceiptKey) =>
  markup`<dl class="pairs"><dt>${texts.receiptKeyOf(edge_id)}</dt><dd class="mono">${pubkey}</dd></dl>
    <pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">catenet receipts verify receipts-${id}.jsonl --key ${pubkey}</pre>`

/** `verifier`: where the page is that verifies. */
const renderReceiptsPanel = (
  texts: Texts,
  id: string,
  { known, silent }: Answer<ReadonlyArray<ReceiptKey>>,
  verifier: string
) => {
  const keys = Option.getOrElse(known, () => [])
  return panel(
    texts.receiptsTitle,
    markup`<p class="hint">${texts.receiptsText} <a href="${verifier}">${texts.verifyReceipts}</a></p>
    <form method="get" action="/portal/tunnels/${id}/receipts.jsonl">
      ${field({ name: "since", type: "number", value: "0", label: texts.receiptsSince, hint: texts.receiptsSinceHint })}
      <button>${texts.receipts}</button></form>
    ${keys.map((key) => keyOf(texts, id, key))}
    ${silent.length > 0 ? markup`<p class="hint">${texts.receiptKeySilent(silent.join(", "))}</p>` : undefined}
    ${keys.length === 0 && silent.length === 0 ? markup`<p class="hint">${texts.receiptKeyNone}</p>` : undefined}`,
    "receipts"
  )
}

/** Whether and how the operator's bridge may reach the agent behind a tunnel. */
const renderBridgePanel = (texts: Texts, { bridge_mode, id }: Tunnel, sent: Sent | undefined) =>
  panel(
    texts.bridgeTitle,
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
    "bridge"
  )

export interface Facts {
  readonly tunnel: Tunnel
  readonly address: string | undefined
  readonly sent: Sent | undefined
  /** What only the owner sees. */
  readonly controls?: Controls
}

const naming = (texts: Texts, { id, name }: Tunnel, sent: Sent | undefined) =>
  panel(
    texts.renameTitle,
    markup`<form method="post" action="/portal/tunnels/${id}/rename">
      ${field({ ...valuesOf(texts, sent, "rename")("name", name), label: texts.tunnelNewName, hint: texts.tunnelNameHint })}
      <button>${texts.renameButton}</button></form>`
  )

const ending = (texts: Texts, { id }: Tunnel) =>
  panel(
    texts.furtherTitle,
    markup`<ul class="plain">
      <li><a href="/portal/tunnels/${id}/grants">${texts.grantsTitle}</a></li>
      <li><a href="/portal/tunnels/${id}/rotate-token">${texts.rotateTitle}</a></li>
      <li><a href="/portal/tunnels/${id}/delete">${texts.deleteTitle}</a></li></ul>`
  )

const columns = (texts: Texts, { controls, sent, tunnel }: Facts): readonly [left: Markup, right: Markup] => {
  const certificate = CertificatePanel.render(texts, tunnel, controls)
  const connect = ConnectPage.form(texts, tunnel.id)
  if (controls === undefined) return [connect, certificate]
  return [
    markup`${connect}${LoginPanel.render(texts, tunnel, controls, sent)}${renderSharePanel(texts, tunnel, controls, sent)}${AccessPanel.render(
      texts,
      tunnel,
      controls,
      sent
    )}${renderAlertPanel(texts, tunnel, controls, sent)}`,
    markup`${certificate}${BadgePanel.render(texts, tunnel, controls)}${naming(texts, tunnel, sent)}${renderBridgePanel(
      texts,
      tunnel,
      sent
    )}${renderReceiptsPanel(texts, tunnel.id, controls.receiptKeys, VerifyReceiptsPage.address)}${ending(texts, tunnel)}`
  ]
}

export const page = (texts: Texts, facts: Facts): Page => {
  const { address, controls, tunnel } = facts
  const { hostname, id, name } = tunnel
  const [left, right] = columns(texts, facts)
  return {
    title: hostname ?? name,
    area: "tunnels",
    crumbs: [["/portal/tunnels", texts.tunnels]],
    here: name,
    main: markup`<div class="head"><div><h1 class="mono">${hostname ?? name}</h1>
        <p class="lead">${controls === undefined ? texts.shared : state(texts, controls.reach, id)}</p>
        ${address === undefined ? undefined : markup`<p class="address"><a href="${address}">${address}</a></p>`}</div>
        ${controls === undefined ? undefined : markup`<a class="button" href="/portal/tunnels/${id}/uptime">${texts.uptimeTitle}</a>`}</div>
      ${
        controls !== undefined && controls.requests.length > 0
          ? markup`<p class="panel notice"><a href="#visitors">${texts.requestsWaiting(controls.requests.length)}</a></p>`
          : undefined
      }
      <div class="cols"><div class="stack">${left}</div><div class="stack">${right}</div></div>`
  }
}
