/** A page that is one title, one sentence, and links. */
import { markup } from "@catenet/platform/Markup"
import type { Texts } from "../texts/English.ts"
import { icon } from "./Icons.ts"
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
  /** What it is about, such as the host of a link. */
  readonly about?: string
}): Page => ({
  title: facts.title,
  frame: "door",
  main: markup`<section class="panel pad"><span class="seal ${facts.isGood === true ? "good" : "none"}">${icon(facts.isGood === true ? "check" : "info")}</span><h1>${facts.title}</h1>
    ${facts.about === undefined ? undefined : markup`<p class="mono">${facts.about}</p>`}<div class="notice${facts.isGood === true ? "" : " bad"}"><p>${facts.detail}</p>${
      facts.again === undefined ? undefined : markup`<p>${facts.again}</p>`
    }</div>${facts.links.map(({ href, text }) => markup`<p><a class="button" href="${href}">${text}</a></p>`)}</section>`
})
