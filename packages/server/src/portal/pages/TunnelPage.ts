/** `/portal/tunnels/:id`: everything of one tunnel. A grantee sees what it is and how to connect an agent, no more. */
import type { AccessState } from "@catenet/domain/api/TunnelControlsApi"
import type { Alert } from "@catenet/domain/tunnels/Alert"
import type { Badge } from "@catenet/domain/tunnels/Badge"
import type { ShareLink } from "@catenet/domain/tunnels/ShareLink"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { type Markup, markup } from "@catenet/domain/values/Markup"
import type { Texts } from "../shell/English.ts"
import { field, type Refused } from "../shell/Field.ts"
import { moment } from "../shell/Moment.ts"
import type { Page } from "../shell/Shell.ts"
import { state } from "./AgentState.ts"
import * as ConnectPage from "./ConnectPage.ts"

/** What only the owner sees. */
export interface Controls {
  /** Undefined while every edge is silent. */
  readonly isConnected: boolean | undefined
  readonly alert: Alert | undefined
  readonly badge: Badge
  readonly window: AccessState
  readonly links: ReadonlyArray<ShareLink>
}

const panel = (title: string, body: Markup) => markup`<section class="panel"><h2>${title}</h2>${body}</section>`

const button = (action: string, text: string) =>
  markup`<form method="post" action="${action}"><button>${text}</button></form>`

const sharing = (texts: Texts, { hostname, id, require_login, status }: Tunnel, links: Controls["links"]) => {
  const rows = links.map(
    (
      link
    ) => markup`<tr><th scope="row">${link.label ?? link.id.slice(0, 8)}</th><td>${texts.shareStates[link.state]}</td>
      <td>${moment(link.expires_at)}</td><td>${
        link.state === "active" || link.state === "opened"
          ? button(
              `/portal/tunnels/${id}/share-links/${link.id}/revoke`,
              texts.shareRevoke(link.label ?? link.id.slice(0, 8))
            )
          : undefined
      }</td></tr>`
  )
  const form = markup`<form method="post" action="/portal/tunnels/${id}/share-links">
    <div class="field"><label for="ttl">${texts.shareTtl}</label><select id="ttl" name="ttl"><option value="1h">${texts.hour}</option>
      <option value="24h">${texts.day}</option><option value="7d">${texts.week}</option></select></div>
    ${field({ name: "label", label: texts.shareLabel, isOptional: true })}
    <p><label><input type="checkbox" name="single_use" value="1"> ${texts.shareSingle}</label></p>
    <button>${texts.shareButton}</button></form>`
  return panel(
    texts.shareTitle,
    markup`${rows.length === 0 ? undefined : markup`<table><tbody>${rows}</tbody></table>`}
      ${require_login && hostname !== null && status === "gelb" ? form : markup`<p class="hint">${texts.shareNeeds}</p>`}`
  )
}

const visiting = (texts: Texts, { id, require_login }: Tunnel, { links, window }: Controls) => {
  const active = links.filter((link) => link.state === "active" || link.state === "opened").length
  return panel(
    texts.visitorsTitle,
    markup`<dl class="pairs">
      <dt>${texts.login}</dt><dd>${require_login ? texts.yes : texts.no}</dd>
      <dt>${texts.window}</dt><dd>${window.policy === null ? texts.windowNone : window.open ? texts.windowOpen : texts.windowClosed}</dd>
      <dt>${texts.shareLinks}</dt><dd>${texts.active(active)}</dd></dl>
    <form method="post" action="/portal/tunnels/${id}/require-login"><p><label><input type="checkbox" name="enabled" value="1"${
      require_login ? markup` checked` : undefined
    }> ${texts.login}</label></p><button>${texts.save}</button></form>`
  )
}

const alerting = (texts: Texts, { id }: Tunnel, alert: Alert | undefined) =>
  panel(
    texts.alertTitle,
    markup`${
      alert === undefined
        ? markup`<p class="hint">${texts.alertNone}</p>`
        : markup`<dl class="pairs"><dt>${texts.alertState}</dt><dd>${texts.alertStates[alert.state]}, ${moment(alert.since)}</dd></dl>`
    }
    <form method="post" action="/portal/tunnels/${id}/alert">
      ${field({ name: "webhook_url", type: "url", label: texts.alertUrl, value: alert?.webhook_url ?? "" })}
      ${field({ name: "threshold_minutes", type: "number", label: texts.alertMinutes, value: String(alert?.threshold_minutes ?? 5) })}
      <button>${texts.alertSave}</button></form>
    ${
      alert === undefined
        ? undefined
        : markup`<div class="row">${button(`/portal/tunnels/${id}/alert/test`, texts.alertTest)}
            ${button(`/portal/tunnels/${id}/alert/delete`, texts.alertDelete)}</div>`
    }`
  )

const badging = (texts: Texts, { id }: Tunnel, { public_id }: Badge) =>
  panel(
    texts.badgeTitle,
    public_id === null
      ? markup`<p class="hint">${texts.badgeOff}</p>${button(`/portal/tunnels/${id}/badge/enable`, texts.badgeOn)}`
      : markup`<p><img src="/badge/${public_id}.svg" alt="${texts.badgeAlt}"></p>
          ${button(`/portal/tunnels/${id}/badge/disable`, texts.badgeStop)}`
  )

const naming = (texts: Texts, { id, name }: Tunnel, refused: Refused | undefined) =>
  panel(
    texts.renameTitle,
    markup`<form method="post" action="/portal/tunnels/${id}/rename">
      ${field({ name: "name", label: texts.renameTitle, hint: texts.tunnelNameHint, value: name, refused })}
      <button>${texts.renameButton}</button></form>`
  )

export const page = (
  texts: Texts,
  tunnel: Tunnel,
  address: string | undefined,
  controls: Controls | undefined,
  renaming?: Refused
): Page => {
  const { hostname, id, name, status } = tunnel
  const certificate = markup`<section class="panel"><h2>${texts.settingsTitle} <span class="tier ${status}">${status}</span></h2>
    <p class="hint">${texts.tiers[status]}</p></section>`
  return {
    title: hostname ?? name,
    area: "tunnels",
    main: markup`<p class="crumb"><a href="/portal/tunnels">${texts.tunnels}</a> / ${name}</p>
      <div class="head"><div><h1 class="mono">${hostname ?? name}</h1>
        <p class="lead">${controls === undefined ? texts.shared : state(texts, controls.isConnected, id)}</p>
        ${address === undefined ? undefined : markup`<p><a href="${address}">${address}</a></p>`}</div></div>
      <div class="columns"><div>
        ${ConnectPage.form(texts, id)}
        ${controls === undefined ? undefined : [alerting(texts, tunnel, controls.alert), sharing(texts, tunnel, controls.links)]}
      </div><div>
        ${certificate}
        ${
          controls === undefined
            ? undefined
            : [
                visiting(texts, tunnel, controls),
                badging(texts, tunnel, controls.badge),
                naming(texts, tunnel, renaming),
                markup`<section class="panel"><h2>${texts.deleteTitle}</h2><p class="hint">${texts.deleteText}</p>
                  <p><a href="/portal/tunnels/${id}/receipts.jsonl">${texts.receipts}</a></p>
                  <p><a href="/portal/tunnels/${id}/delete">${texts.deleteTitle}</a></p></section>`
              ]
        }
      </div></div>`
  }
}
