/** `/portal/channels/:channel`: an own channel with its members, who may claim, its grants, its key, and its end. */
import type { Channel, DepositedGrant, Member } from "@catenet/domain/channels/Channel"
import type { ClaimInvite } from "@catenet/domain/channels/ClaimInvite"
import { markup, type Markup } from "@catenet/platform/Markup"
import * as InviteScript from "../invite/InviteScript.ts"
import { area, button, checkbox, choice, field, panel, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"
import { materialFields } from "./MaterialFields.ts"
import { shortKey } from "./ShortKey.ts"

// Invites another machine to an own channel by one line. The page's script makes the line with the operator key in a file
// that is sent nowhere; without the script the page names the command that does the same.

/** What the one who joins needs to know of this platform. */
interface JoinPlace {
  /** Starts the agent on the other machine. */
  readonly command: string
  /** Base address of the control plane, for agents. */
  readonly origin: string
  /** `host:port` of the edge's front door, as far as it is known. */
  readonly frontDoor: string
  readonly broker: number | undefined
  readonly relay: number | undefined
}

const joinLinePanel = (
  texts: Texts,
  { channel, operator_pubkey }: { readonly channel: string; readonly operator_pubkey: string },
  { broker, command, frontDoor, origin, relay }: JoinPlace
): Markup =>
  panel(
    texts.lineTitle,
    markup`<p class="hint">${texts.lineText}</p>
    <noscript><p class="panel notice">${texts.lineNoScript} <code class="mono">ct-agent channel invite --mcp</code></p></noscript>
    <form hidden method="post" action="/portal/channels/${channel}/join-links" data-inviter="${InviteScript.workerPath}"
      data-channel="${channel}" data-operator="${operator_pubkey}" data-origin="${origin}" data-command="${command} channel join"
      data-place="${JSON.stringify({ broker, relay })}" data-copylabel="${texts.copy}" data-copied="${texts.copied}"
      data-busy="${texts.lineBusy}" data-made="${texts.lineMade}" data-failed="${texts.lineFailed}" data-nofile="${texts.lineNoFile}"
      data-otherkey="${texts.lineOtherKey}" data-nodays="${texts.lineNoDays}" data-nodoor="${texts.lineNoDoor}" data-noroot="${texts.lineNoRoot}">
      <div data-part>
      <div class="field"><label for="operator-file">${texts.lineFile}</label>
        <span class="hint" id="operator-file-hint">${texts.lineFileHint}</span>
        <input id="operator-file" name="operator_file" type="file" aria-describedby="operator-file-hint"></div>
      ${choice({
        name: "use",
        label: texts.lineUse,
        options: [
          ["mcp initiate", texts.lineUses.mcp],
          ["variables initiate", texts.lineUses.initiate],
          ["variables accept", texts.lineUses.accept]
        ]
      })}
      ${field({ name: "days", type: "number", value: "90", label: texts.lineDays })}
      ${field({ name: "front_door", value: frontDoor, label: texts.lineDoor, hint: texts.lineDoorHint })}
      <button>${texts.lineMake}</button></div>
      <p role="status"></p><pre tabindex="0" hidden></pre></form>`,
    "join-line"
  )

export interface Facts {
  readonly channel: Channel
  readonly members: ReadonlyArray<Member>
  readonly grants: ReadonlyArray<DepositedGrant>
  readonly emails: ReadonlyArray<string>
  readonly invites: ReadonlyArray<ClaimInvite>
  readonly place: JoinPlace
  readonly sent: Sent | undefined
}

const memberRow = (texts: Texts, own: string, { holder, noise_pubkey }: Member, isGranted: boolean) =>
  markup`<tr><td data-label="${texts.holderKey}">${shortKey(holder)}</td>
    <td data-label="${texts.noiseKey}">${noise_pubkey === null ? texts.noNoiseKey : shortKey(noise_pubkey)}</td>
    <td data-label="${texts.grantTitle}">${isGranted ? texts.grantDeposited : texts.noGrant}</td>
    <td class="actions">${button(`${own}/members/${holder}/remove`, texts.removeIt, undefined, texts.removeNamed(holder.slice(0, 8)))}</td></tr>`

const membership = (texts: Texts, own: string, { grants, members, sent }: Facts) => {
  const granted = new Set(grants.map(({ holder }) => String(holder)))
  const values = valuesOf(texts, sent, "grant")
  return panel(
    texts.membersTitle,
    markup`${
      members.length === 0
        ? markup`<p class="hint">${texts.membersNone}</p>`
        : markup`<table><thead><tr><th scope="col">${texts.holderKey}</th><th scope="col">${texts.noiseKey}</th><th scope="col">${texts.grantTitle}</th><td></td></tr></thead>
            <tbody>${members.map((member) => memberRow(texts, own, member, granted.has(member.holder)))}</tbody></table>`
    }
    <details${sent?.form === "member" ? markup` open` : undefined}><summary>${texts.memberAdd}</summary><form method="post" action="${own}/members">${materialFields(texts, sent, "member")}
      <button>${texts.memberAdd}</button></form></details>
    <details${sent?.form === "grant" ? markup` open` : undefined}><summary>${texts.grantDeposit}</summary><form method="post" action="${own}/grants">
      ${field({ ...values("holder"), id: "grant-holder", label: texts.holderKey, hint: texts.hex64 })}
      ${area({ ...values("grant"), label: texts.grantTitle, hint: texts.hex278 })}
      <button>${texts.grantDeposit}</button></form></details>`
  )
}

const claiming = (texts: Texts, own: string, { emails, invites, sent }: Facts) =>
  markup`${panel(
    texts.allowTitle,
    markup`${
      emails.length === 0
        ? markup`<p class="hint">${texts.visitorsNone}</p>`
        : markup`<table><tbody>${emails.map(
            (email) =>
              markup`<tr><th scope="row">${email}</th><td class="actions">${button(`${own}/allowlist/${encodeURIComponent(email)}/remove`, texts.removeIt, undefined, texts.removeNamed(email))}</td></tr>`
          )}</tbody></table>`
    }
    <form class="row" method="post" action="${own}/allowlist">
      ${field({ ...valuesOf(texts, sent, "allow")("email"), type: "email", label: texts.visitorEmail })}
      <button>${texts.visitorAdd}</button></form>`
  )}${panel(
    texts.invitesTitle,
    markup`${
      invites.length === 0
        ? markup`<p class="hint">${texts.invitesNone}</p>`
        : markup`<table><thead><tr><th scope="col">${texts.inviteLabel}</th><th scope="col">${texts.holderKey}</th><th scope="col">${texts.columnState}</th><th scope="col">${texts.inviteExpires}</th></tr></thead>
          <tbody>${invites.map(
            ({ expires_at, holder, label, state }) =>
              markup`<tr><th scope="row">${label ?? texts.inviteUnnamed}</th><td data-label="${texts.holderKey}">${shortKey(holder)}</td><td data-label="${texts.columnState}">${texts.inviteStates[state]}</td><td data-label="${texts.inviteExpires}">${timestamp(expires_at)}</td></tr>`
          )}</tbody></table>`
    }
    <details${sent?.form === "invite" ? markup` open` : undefined}><summary>${texts.inviteMake}</summary><form method="post" action="${own}/claim-invites">
      ${materialFields(texts, sent, "invite")}
      ${field({ ...valuesOf(texts, sent, "invite")("label"), label: texts.shareLabel, hint: texts.inviteLabelHint, isOptional: true })}
      <button>${texts.inviteMake}</button></form></details>`
  )}`

const consent = (texts: Texts, sent: Sent | undefined, form: string, name: string, label: string) => {
  const { refused, value } = valuesOf(texts, sent, form)(name)
  return checkbox({ name, label, refused, isChecked: value !== "" })
}

const ending = (texts: Texts, own: string, { sent }: Facts) =>
  markup`${panel(
    texts.rekeyTitle,
    markup`<p>${texts.rekeyText}</p><form method="post" action="${own}/rekey">
      ${field({ ...valuesOf(texts, sent, "rekey")("operator_pubkey"), label: texts.operatorKey, hint: texts.operatorHint })}
      ${consent(texts, sent, "rekey", "confirm_rekey", texts.rekeyConfirm)}
      <button class="danger">${texts.rekeyTitle}</button></form>`
  )}${panel(
    texts.channelEnd,
    markup`<p>${texts.channelEndText}</p><form method="post" action="${own}/deregister">
      ${consent(texts, sent, "deregister", "confirm", texts.channelEndConfirm)}
      <button class="danger">${texts.channelEnd}</button></form>`
  )}`

export const page = (texts: Texts, facts: Facts): Page => {
  const { channel } = facts
  const own = `/portal/channels/${channel.channel}`
  return {
    title: `${texts.channel} ${channel.channel.slice(0, 8)}`,
    area: "channels",
    script: InviteScript.pagePath,
    crumbs: [["/portal/channels", texts.channels]],
    here: channel.channel.slice(0, 8),
    main: markup`<div class="head"><div><h1>${texts.channel}</h1><p class="lead mono">${channel.channel}</p></div></div>
      <section class="panel pad"><dl class="pairs"><dt>${texts.operatorKey}</dt><dd class="mono">${channel.operator_pubkey}</dd></dl></section>
      ${membership(texts, own, facts)}${joinLinePanel(texts, channel, facts.place)}${claiming(texts, own, facts)}${ending(texts, own, facts)}`
  }
}
