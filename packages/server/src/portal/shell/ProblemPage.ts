/** A page that is one title, one sentence, and links. */
import { markup } from "@catenet/platform/Markup"
import type { Texts } from "../texts/English.ts"
import type { Page } from "./Shell.ts"

export interface Link {
  readonly href: string
  readonly text: string
}

/** What the `retry-after` of an answer says to a person. */
export const againOf = (texts: Texts, seconds: number | undefined): string | undefined =>
  seconds === undefined ? undefined : texts.tryAgainIn(Math.max(1, Math.ceil(seconds)))

export const page = (facts: {
  readonly title: string
  readonly detail: string
  readonly links: ReadonlyArray<Link>
  /** What was asked for is done. */
  readonly isGood?: boolean
  /** When it may be different, in words. */
  readonly again?: string | undefined
}): Page => ({
  title: facts.title,
  main: markup`<h1>${facts.title}</h1>
    <div class="panel notice${facts.isGood === true ? "" : " bad"}"><p>${facts.detail}</p>${
      facts.again === undefined ? undefined : markup`<p>${facts.again}</p>`
    }${facts.links.map(({ href, text }) => markup`<p><a href="${href}">${text}</a></p>`)}</div>`
})
