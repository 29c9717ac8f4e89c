/** Shows a secret once, in the response to a form; browsers do not store it. */
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

export const page = (
  texts: Texts,
  facts: {
    readonly title: string
    readonly detail: string
    readonly shown: string
    /** What is shown is English whatever the language of the page. */
    readonly isEnglish?: boolean
    readonly back: string
    readonly area?: Page["area"]
  }
): Page => ({
  title: facts.title,
  ...(facts.area === undefined ? {} : { area: facts.area }),
  main: markup`<div class="head"><h1>${facts.title}</h1></div>
    <section class="panel notice"><p>${facts.detail}</p>
    <pre tabindex="0"${facts.isEnglish === true ? markup` lang="en"` : undefined} data-copy="${texts.copy}" data-copied="${texts.copied}">${facts.shown}</pre>
    <p><a href="${facts.back}">${texts.back}</a></p></section>`
})
