/** `/portal/tunnels/:id`: everything of one tunnel. A grantee sees what it is and how to connect an agent, no more. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { type Markup, markup } from "@catenet/platform/Markup"
import { field, panel, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { state } from "./AgentState.ts"
import * as ConnectPage from "./ConnectPage.ts"
import * as AccessPanel from "./tunnel/AccessPanel.ts"
import * as AlertPanel from "./tunnel/AlertPanel.ts"
import * as BadgePanel from "./tunnel/BadgePanel.ts"
import * as BridgePanel from "./tunnel/BridgePanel.ts"
import * as CertificatePanel from "./tunnel/CertificatePanel.ts"
import type { Controls } from "./tunnel/Controls.ts"
import * as LoginPanel from "./tunnel/LoginPanel.ts"
import * as ReceiptsPanel from "./tunnel/ReceiptsPanel.ts"
import * as SharePanel from "./tunnel/SharePanel.ts"
import * as VerifyReceiptsPage from "./VerifyReceiptsPage.ts"

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
    markup`${connect}${LoginPanel.render(texts, tunnel, controls, sent)}${SharePanel.render(texts, tunnel, controls, sent)}${AccessPanel.render(
      texts,
      tunnel,
      controls,
      sent
    )}${AlertPanel.render(texts, tunnel, controls, sent)}`,
    markup`${certificate}${BadgePanel.render(texts, tunnel, controls)}${naming(texts, tunnel, sent)}${BridgePanel.render(
      texts,
      tunnel,
      sent
    )}${ReceiptsPanel.render(texts, tunnel.id, controls.receiptKeys, VerifyReceiptsPage.address)}${ending(texts, tunnel)}`
  ]
}

export const page = (texts: Texts, facts: Facts): Page => {
  const { address, controls, tunnel } = facts
  const { hostname, id, name } = tunnel
  const [left, right] = columns(texts, facts)
  return {
    title: hostname ?? name,
    area: "tunnels",
    main: markup`<p class="crumb"><a href="/portal/tunnels">${texts.tunnels}</a> / ${name}</p>
      <div class="head"><div><h1 class="mono">${hostname ?? name}</h1>
        <p class="lead">${controls === undefined ? texts.shared : state(texts, controls.reach, id)}</p>
        ${address === undefined ? undefined : markup`<p class="address"><a href="${address}">${address}</a></p>`}</div>
        ${controls === undefined ? undefined : markup`<a class="button" href="/portal/tunnels/${id}/uptime">${texts.uptimeTitle}</a>`}</div>
      ${
        controls !== undefined && controls.requests.length > 0
          ? markup`<p class="panel notice"><a href="#visitors">${texts.requestsWaiting(controls.requests.length)}</a></p>`
          : undefined
      }
      <div class="columns"><div>${left}</div><div>${right}</div></div>`
  }
}
