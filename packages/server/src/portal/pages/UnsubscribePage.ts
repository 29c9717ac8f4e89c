/** `/portal/unsubscribe`: a button, because programs that follow the links of a mail must not switch it off. */
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

const shown = (title: string, content: Page["main"]): Page => ({
  title,
  isStill: true,
  main: markup`<h1>${title}</h1>${content}`
})

/** `action`: the address of the page itself, which holds the token. */
export const ask = (texts: Texts, action: string): Page =>
  shown(
    texts.unsubscribeTitle,
    markup`<form class="panel" method="post" action="${action}"><p>${texts.unsubscribeText}</p>
      <button class="main-action">${texts.unsubscribeButton}</button></form>`
  )

export const done = (texts: Texts): Page =>
  shown(texts.unsubscribeTitle, markup`<p class="panel notice" role="status">${texts.unsubscribed}</p>`)

export const spent = (texts: Texts): Page =>
  shown(texts.unsubscribeTitle, markup`<p class="panel notice">${texts.unsubscribeSpent}</p>`)
