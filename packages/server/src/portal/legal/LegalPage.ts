/** A legal page in the shell: a heading and the operator's or our own prose. It is the same for everybody. */
import { type Markup, markup } from "@catenet/domain/values/Markup"
import type { Page } from "../shell/Shell.ts"

export const page = (title: string, main: Markup): Page => ({
  title,
  isStill: true,
  main: markup`<h1>${title}</h1>
    <div class="panel prose">${main}</div>`
})
