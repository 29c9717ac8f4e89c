/** `/portal/channels/:channel`: an own channel, a tab each for its members, who may join, and what is set once. */
import type { Channel, DepositedGrant, Member } from "@catenet/domain/channels/Channel"
import type { ClaimInvite } from "@catenet/domain/channels/ClaimInvite"
import { markup, type Markup } from "@catenet/platform/Markup"
import { expiryOf } from "../../channels/GrantExpiries.ts"
import * as InviteScript from "../invite/InviteScript.ts"
import { area, button, checkbox, choice, field, more, section, type Sent, tabs, valuesOf } from "../shell/Field.ts"
import { icon } from "../shell/Icons.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"
import { grantEnd, nameOf, shortId } from "./ChannelsPage.ts"
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
  section(
    texts.lineTitle,
    markup`<div class="pad"><noscript><p class="panel notice">${texts.lineNoScript} <code class="mono">ct-agent channel invite --mcp</code></p></noscript>
    <form hidden method="post" action="/portal/channels/${channel}/join-links" data-inviter="${InviteScript.workerPath}"
      data-channel="${channel}" data-operator="${operator_pubkey}" data-origin="${origin}" data-command="${command} channel join"
      data-place="${JSON.stringify({ broker, relay })}" data-copylabel="${texts.copy}" data-copied="${texts.copied}"
      data-busy="${texts.lineBusy}" data-made="${texts.lineMade}" data-failed="${texts.lineFailed}" data-nofile="${texts.lineNoFile}"
      data-otherkey="${texts.lineOtherKey}" data-nodays="${texts.lineNoDays}" data-nodoor="${texts.lineNoDoor}" data-noroot="${texts.lineNoRoot}">
      <div data-part class="stack">
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
      <button class="primary">${texts.lineMake}</button></div>
      <p role="status"></p><pre tabindex="0" hidden></pre></form></div>`,
    { lead: texts.lineText, id: "join-line" }
  )

export type Tab = "members" | "invitations" | "settings"

/** The tab on which a form stands that was refused. */
const tabOfForm: ReadonlyMap<string, Tab> = new Map([
  ["allow", "invitations"],
  ["invite", "invitations"],
  ["line", "invitations"]
])

export const tabOf = (url: string, sent: Sent | undefined): Tab => {
  if (sent !== undefined) return tabOfForm.get(sent.form) ?? "settings"
  const query = new URL(url, "http://localhost").searchParams.get("tab")
  return query === "invitations" || query === "settings" ? query : "members"
}

export interface Facts {
  readonly channel: Channel
  readonly label: string | null
  readonly tab: Tab
  readonly members: ReadonlyArray<Member>
  readonly grants: ReadonlyArray<DepositedGrant>
  readonly emails: ReadonlyArray<string>
  readonly invites: ReadonlyArray<ClaimInvite>
  readonly place: JoinPlace
  readonly sent: Sent | undefined
  readonly now: number
}

const card = (texts: Texts, own: string, { holder, noise_pubkey }: Member, end: number | undefined, now: number) =>
  markup`<article class="panel member"><header><span class="avatar" aria-hidden="true">${holder.slice(0, 2).toUpperCase()}</span><h3 class="mono">${shortId(holder)}</h3>${button(
    `${own}/members/${holder}/remove`,
    texts.removeIt,
    undefined,
    texts.removeNamed(holder.slice(0, 8))
  )}</header><dl class="pairs"><dt>${texts.grantTitle}</dt><dd>${end === undefined ? texts.noGrant : grantEnd(texts, end, now)}</dd>
    <dt>${texts.holderShort}</dt><dd>${shortKey(holder)}</dd><dt>${texts.noiseKey}</dt><dd>${noise_pubkey === null ? texts.noNoiseKey : shortKey(noise_pubkey)}</dd></dl></article>`

const membersTab = (texts: Texts, own: string, { grants, members, now }: Facts) => {
  const ends = new Map(grants.map(({ grant, holder }) => [String(holder), expiryOf(grant)]))
  return members.length === 0
    ? markup`<section class="panel"><div class="empty"><span class="seal lead">${icon("people")}</span><h2>${texts.membersNone}</h2><p>${texts.membersNoneText}</p>
        <div class="row"><a class="button primary" href="${own}?tab=invitations">${icon("plus")}${texts.invite}</a></div></div></section>`
    : markup`<h2 class="hidden">${texts.membersTitle}</h2><div class="members">${members.map((member) => card(texts, own, member, ends.get(member.holder), now))}</div>`
}

const allowed = (texts: Texts, own: string, { emails, sent }: Facts) =>
  section(
    texts.allowTitle,
    markup`${
      emails.length === 0
        ? undefined
        : markup`<table><tbody>${emails.map(
            (email) =>
              markup`<tr><th scope="row">${email}</th><td class="actions">${button(`${own}/allowlist/${encodeURIComponent(email)}/remove`, texts.removeIt, undefined, texts.removeNamed(email))}</td></tr>`
          )}</tbody></table>`
    }<div class="pad"><form class="inline-form" method="post" action="${own}/allowlist">
      ${field({ ...valuesOf(texts, sent, "allow")("email"), type: "email", label: texts.visitorEmail })}
      <button>${texts.visitorAdd}</button></form></div>`,
    { lead: texts.allowLead }
  )

const invitesOf = (texts: Texts, own: string, { invites, sent }: Facts) =>
  section(
    texts.invitesTitle,
    markup`${
      invites.length === 0
        ? undefined
        : markup`<table><thead><tr><th scope="col">${texts.inviteLabel}</th><th scope="col">${texts.columnState}</th><th scope="col">${texts.inviteExpires}</th></tr></thead>
          <tbody>${invites.map(
            ({ expires_at, holder, label, state }) =>
              markup`<tr><th scope="row"><span class="two">${label ?? texts.inviteUnnamed}<small class="mono">${shortId(holder)}</small></span></th><td data-label="${texts.columnState}">${texts.inviteStates[state]}</td><td data-label="${texts.inviteExpires}">${timestamp(expires_at)}</td></tr>`
          )}</tbody></table>`
    }${more(
      texts.inviteMake,
      undefined,
      markup`<form method="post" action="${own}/claim-invites">
      ${field({ ...valuesOf(texts, sent, "invite")("label"), label: texts.shareLabel, hint: texts.inviteLabelHint, isOptional: true })}
      ${materialFields(texts, sent, "invite")}
      <button>${texts.inviteMake}</button></form>`,
      { isOpen: sent?.form === "invite" }
    )}`,
    { lead: invites.length === 0 ? texts.invitesNone : texts.invitesLead }
  )

const consent = (texts: Texts, sent: Sent | undefined, form: string, name: string, label: string) => {
  const { refused, value } = valuesOf(texts, sent, form)(name)
  return checkbox({ name, label, refused, isChecked: value !== "" })
}

const settings = (texts: Texts, own: string, { channel, label, sent }: Facts) => {
  const values = valuesOf(texts, sent, "grant")
  return markup`<div class="stack-wide narrow-page">${section(
    texts.channelLabel,
    markup`<div class="pad"><form class="inline-form" method="post" action="${own}/label">
      ${field({ ...valuesOf(texts, sent, "label")("label", label ?? ""), id: "channel-label", label: texts.channelLabel, isOptional: true })}
      <button>${texts.save}</button></form></div>`,
    { lead: texts.channelLabelHint }
  )}<section class="panel"><header><div><h2>${texts.keysTitle}</h2><p class="soft small">${texts.keysLead}</p></div></header><dl class="pairs pad"><dt>${texts.channelId}</dt><dd class="mono">${channel.channel}</dd><dt>${texts.operatorKey}</dt><dd class="mono">${channel.operator_pubkey}</dd></dl>
    ${more(texts.memberAdd, undefined, markup`<form method="post" action="${own}/members">${materialFields(texts, sent, "member")}<button>${texts.memberAdd}</button></form>`, { isOpen: sent?.form === "member" })}
    ${more(
      texts.grantDeposit,
      undefined,
      markup`<form method="post" action="${own}/grants">
      ${field({ ...values("holder"), id: "grant-holder", label: texts.holderKey, hint: texts.hex64 })}
      ${area({ ...values("grant"), label: texts.grantTitle, hint: texts.hex278 })}
      <button>${texts.grantDeposit}</button></form>`,
      { isOpen: sent?.form === "grant" }
    )}</section>${section(
      texts.dangerZone,
      markup`<div>${more(
        texts.rekeyTitle,
        undefined,
        markup`<p class="soft">${texts.rekeyText}</p><form method="post" action="${own}/rekey">
      ${field({ ...valuesOf(texts, sent, "rekey")("operator_pubkey"), label: texts.operatorKey, hint: texts.operatorHint })}
      ${consent(texts, sent, "rekey", "confirm_rekey", texts.rekeyConfirm)}
      <button class="danger">${texts.rekeyTitle}</button></form>`,
        { isOpen: sent?.form === "rekey" }
      )}${more(
        texts.channelEnd,
        undefined,
        markup`<p class="soft">${texts.channelEndText}</p><form method="post" action="${own}/deregister">
      ${consent(texts, sent, "deregister", "confirm", texts.channelEndConfirm)}
      <button class="danger">${texts.channelEnd}</button></form>`,
        { isOpen: sent?.form === "deregister" }
      )}</div>`,
      { kind: "danger-zone" }
    )}</div>`
}

export const page = (texts: Texts, facts: Facts): Page => {
  const { channel, label, place, tab } = facts
  const own = `/portal/channels/${channel.channel}`
  const name = nameOf({ channel: channel.channel, label })
  return {
    title: name,
    area: "channels",
    ...(tab === "invitations" ? { script: InviteScript.pagePath } : {}),
    crumbs: [["/portal/channels", texts.channels]],
    here: name,
    main: markup`<div class="head"><div><h1${label === null ? markup` class="mono"` : undefined}>${name}</h1>
        <div class="row"><span class="mode gruen">${icon("gruen")}${texts.membersOnly}</span><span class="soft">${texts.membersCount(channel.members)}</span>${shortKey(channel.channel)}</div></div>${
          tab === "invitations"
            ? undefined
            : markup`<a class="button primary" href="${own}?tab=invitations">${icon("plus")}${texts.invite}</a>`
        }</div>
      ${tabs(texts.channel, tab === "members" ? own : `${own}?tab=${tab}`, [
        [own, texts.membersTitle],
        [`${own}?tab=invitations`, texts.invitesTitle],
        [`${own}?tab=settings`, texts.tabs.settings]
      ])}${
        tab === "members"
          ? membersTab(texts, own, facts)
          : tab === "settings"
            ? settings(texts, own, facts)
            : markup`<div class="cols-even"><div class="stack-wide">${joinLinePanel(texts, channel, place)}</div><div class="stack-wide">${allowed(texts, own, facts)}${invitesOf(texts, own, facts)}</div></div>`
      }`
  }
}
