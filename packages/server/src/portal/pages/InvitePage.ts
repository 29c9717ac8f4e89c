/** `/portal/claim?invite=`: what an invite offers, and one button. Looking claims nothing. */
import type { ClaimInvite } from "@catenet/domain/channels/ClaimInvite"
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"

export const page = (texts: Texts, { channel, expires_at, holder, label }: ClaimInvite, invite: string): Page => ({
  title: texts.inviteTitle,
  area: "channels",
  main: markup`<div class="head"><h1>${texts.inviteTitle}</h1></div>
    <form class="panel" method="post" action="/portal/claim/confirm">
      <p>${texts.inviteText}</p>
      <dl class="pairs"><dt>${texts.channel}</dt><dd class="mono">${channel}</dd>
        <dt>${texts.inviteLabel}</dt><dd>${label ?? "–"}</dd>
        <dt>${texts.holderKey}</dt><dd class="mono">${holder}</dd>
        <dt>${texts.inviteExpires}</dt><dd>${timestamp(expires_at)}</dd></dl>
      <input type="hidden" name="invite" value="${invite}">
      <p class="after"><button class="main-action">${texts.inviteConfirm}</button></p></form>`
})
