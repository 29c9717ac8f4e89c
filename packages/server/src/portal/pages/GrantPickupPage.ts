/** `/portal/channels/:channel/grants`: the grants that wait for those holders which an account has claimed. */
import type { ChannelId } from "@catenet/domain/channels/Channel"
import type { ClaimedIdentity } from "@catenet/domain/channels/Claim"
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

const one = (texts: Texts, { grant, holder }: ClaimedIdentity) =>
  markup`<section class="panel"><h2>${texts.holderKey} <span class="mono">${holder.slice(0, 8)}</span></h2>
    <p class="mono">${holder}</p>${
      grant === null
        ? markup`<p class="hint">${texts.pickupWaits}</p>`
        : markup`<p class="hint">${texts.pickupUse}</p>
            <pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">CT_CHANNEL_GRANT=${grant}</pre>`
    }</section>`

export const page = (
  texts: Texts,
  { channel, identities }: { readonly channel: ChannelId; readonly identities: ReadonlyArray<ClaimedIdentity> }
): Page => ({
  title: texts.pickupTitle,
  area: "channels",
  main: markup`<p class="crumb"><a href="/portal/channels">${texts.channels}</a> / ${channel.slice(0, 8)}</p>
    <div class="head"><div><h1>${texts.pickupTitle}</h1><p class="lead mono">${channel}</p></div></div>
    ${identities.map((identity) => one(texts, identity))}`
})
