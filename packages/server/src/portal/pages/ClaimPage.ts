/**
 * `/portal/channels/:channel/claim`: takes a membership up. The script makes the keys in the browser and offers their
 * private halves as a file, which are never sent; the fields are for keys that were made elsewhere.
 */
import type { ChannelId } from "@catenet/domain/channels/Channel"
import { markup } from "@catenet/platform/Markup"
import { field, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { materialFields } from "./MaterialFields.ts"

export const page = (
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
): Page => ({
  title: texts.claimAction,
  area: "channels",
  main: markup`<p class="crumb"><a href="/portal/channels">${texts.channels}</a> / ${channel.slice(0, 8)}</p>
    <div class="head"><div><h1>${texts.claimAction}</h1><p class="lead mono">${channel}</p></div></div>
    ${isClaimed ? markup`<p class="panel notice">${texts.claimAgain}</p>` : undefined}
    <form class="panel" method="post" action="/portal/channels/${channel}/claim-form" data-keys="${channel}" data-account="${subject}"
      data-make="${texts.keysMake}" data-made="${texts.keysMade}" data-unable="${texts.keysUnable}">
      <p class="hint">${texts.claimText}</p>
      ${materialFields(texts, sent, "claim")}${field({
        ...valuesOf(texts, sent, "claim")("account_proof"),
        label: texts.accountProof,
        hint: texts.accountProofHint,
        isOptional: true
      })}
      <button class="main-action">${texts.claimAction}</button></form>`
})
