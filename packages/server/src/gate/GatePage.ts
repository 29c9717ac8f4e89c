/** Pages of the gate: the form to request access, and the button of a share link. */
import { longestAccessNote } from "@catenet/domain/values/Quotas"
import { markup } from "@catenet/platform/Markup"
import { tokenField } from "../http/FormDeduplication.ts"
import { area, field, type Sent, valuesOf } from "../portal/shell/Field.ts"
import { icon } from "../portal/shell/Icons.ts"
import type { Page } from "../portal/shell/Shell.ts"
import type { Texts } from "../portal/texts/English.ts"

export const request = (
  texts: Texts,
  asked: { readonly host: string; readonly action: string; readonly sent?: Sent }
): Page => {
  const values = valuesOf(texts, asked.sent, "access")
  return {
    title: texts.accessTitle,
    frame: "door",
    main: markup`<section class="panel pad"><span class="seal lead">${icon("shield")}</span><h1>${texts.accessTitle}</h1>
      <p><b class="mono">${asked.host}</b></p><p class="soft">${texts.accessWish(asked.host)}</p>
      <form method="post" action="${asked.action}"><input type="hidden" name="host" value="${asked.host}">
      ${field({ ...values("email"), type: "email", label: texts.accessEmail })}
      ${area({ ...values("note"), label: texts.accessNote, hint: texts.accessNoteHint, isOptional: true, longest: longestAccessNote })}
      <p><button class="primary wide-button">${texts.accessAsk}</button></p></form><p class="soft small">${texts.accessText(asked.host)}</p></section>`
  }
}

const hidden = (name: string, value: string) => markup`<input type="hidden" name="${name}" value="${value}">`

/** The page of a link that can be used once. */
export const share = (
  texts: Texts,
  link: {
    readonly host: string
    readonly token: string
    readonly back: string
    readonly action: string
    readonly once: string
  }
): Page => ({
  title: texts.linkTitle(link.host),
  frame: "door",
  main: markup`<section class="panel pad"><span class="seal lead">${icon("link")}</span><h1>${texts.linkTitle(link.host)}</h1>
    <form method="post" action="${link.action}"><p>${texts.linkText(link.host)}</p>
    ${hidden("host", link.host)}${hidden("token", link.token)}${hidden("return", link.back)}${hidden(tokenField, link.once)}
    <p><button class="primary wide-button">${texts.linkOpen}</button></p></form></section>`
})
