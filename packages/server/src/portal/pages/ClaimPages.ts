/** Pages for joining a channel of another account and for collecting the grant. */
import type { ChannelId } from "@catenet/domain/channels/Channel"
import type { ClaimedIdentity } from "@catenet/domain/channels/Claim"
import type { ClaimInvite } from "@catenet/domain/channels/ClaimInvite"
import { markup } from "@catenet/platform/Markup"
import { callout, field, section, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"
import { shortId } from "./ChannelsPage.ts"
import { materialFields } from "./MaterialFields.ts"
import { shortKey } from "./ShortKey.ts"

const around = (texts: Texts, title: string, channel: ChannelId, main: Page["main"]): Page => ({
  title,
  area: "channels",
  crumbs: [["/portal/channels", texts.channels]],
  here: shortId(channel),
  main: markup`<div class="head"><div><h1>${title}</h1><div class="row soft">${texts.channel} ${shortKey(channel)}</div></div></div><div class="stack-wide narrow-page">${main}</div>`
})

/**
 * `/portal/channels/:channel/claim`: takes a membership up. The script makes the keys in the browser and offers their
 * private halves as a file, which are never sent; the fields are for keys that were made elsewhere.
 */
export const claim = (
  texts: Texts,
  {
    channel,
    isClaimed,
    sent,
    subject
  }: {
    readonly channel: ChannelId
    readonly isClaimed: boolean
    readonly sent: Sent | undefined
    readonly subject: string
  }
): Page =>
  around(
    texts,
    texts.claimAction,
    channel,
    markup`${isClaimed ? callout("info", "info", markup`<p>${texts.claimAgain}</p>`) : undefined}
    <form class="panel pad" method="post" action="/portal/channels/${channel}/claim-form" data-keys="${channel}" data-account="${subject}"
      data-make="${texts.keysMake}" data-made="${texts.keysMade}" data-unable="${texts.keysUnable}">
      <p class="hint">${texts.claimText}</p>
      ${materialFields(texts, sent, "claim")}${field({
        ...valuesOf(texts, sent, "claim")("account_proof"),
        label: texts.accountProof,
        hint: texts.accountProofHint,
        isOptional: true
      })}
      <button class="primary">${texts.claimAction}</button></form>`
  )

const pickedUpGrant = (texts: Texts, { grant, holder }: ClaimedIdentity) =>
  section(
    texts.holderKey,
    markup`<div class="pad">${
      grant === null
        ? markup`<p class="hint">${texts.pickupWaits}</p>`
        : markup`<p class="hint">${texts.pickupUse}</p>
            <pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">CT_CHANNEL_GRANT=${grant}</pre>`
    }</div>`,
    { aside: shortKey(holder) }
  )

/** `/portal/channels/:channel/grants`: the grants that wait for those holders which an account has claimed. */
export const grants = (
  texts: Texts,
  { channel, identities }: { readonly channel: ChannelId; readonly identities: ReadonlyArray<ClaimedIdentity> }
): Page =>
  around(texts, texts.pickupTitle, channel, markup`${identities.map((identity) => pickedUpGrant(texts, identity))}`)

/** `/portal/claim?invite=`: what an invite offers, and one button. Looking claims nothing. */
export const invite = (texts: Texts, { channel, expires_at, holder, label }: ClaimInvite, token: string): Page => ({
  title: texts.inviteTitle,
  area: "channels",
  crumbs: [["/portal/channels", texts.channels]],
  main: markup`<div class="head"><div><h1>${texts.inviteTitle}</h1><p class="head-lead">${texts.inviteText}</p></div></div>
    <form class="panel pad narrow-page" method="post" action="/portal/claim/confirm">
      <dl class="pairs"><dt>${texts.inviteLabel}</dt><dd>${label ?? "–"}</dd>
        <dt>${texts.channel}</dt><dd class="mono">${channel}</dd>
        <dt>${texts.holderKey}</dt><dd class="mono">${holder}</dd>
        <dt>${texts.inviteExpires}</dt><dd>${timestamp(expires_at)}</dd></dl>
      <input type="hidden" name="invite" value="${token}">
      <p class="after"><button class="primary">${texts.inviteConfirm}</button></p></form>`
})
