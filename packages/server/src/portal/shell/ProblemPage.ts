/** What is shown in place of a page: one title, one sentence, and where to go from here. */
import { markup } from "@catenet/domain/values/Markup"
import type { Page } from "./Shell.ts"

export const page = (facts: {
  readonly title: string
  readonly detail: string
  readonly link: { readonly href: string; readonly text: string }
}): Page => ({
  title: facts.title,
  main: markup`<h1>${facts.title}</h1>
    <div class="panel notice bad"><p>${facts.detail}</p>
    <p><a href="${facts.link.href}">${facts.link.text}</a></p></div>`
})
