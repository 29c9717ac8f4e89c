/** A small page: one title, one sentence, and what can be done. Everything that is put in is escaped. */
import { escape } from "@catenet/domain/values/Markup"
import * as Stylesheet from "./Stylesheet.ts"

export const contentType = "text/html; charset=utf-8"

/** Allows the one style sheet and the empty icon. Forms may lead anywhere: those of the gate lead to tenants' hosts. */
export const headers = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
} as const

export interface Link {
  readonly href: string
  readonly text: string
}

/** A whole page around markup that is trusted. */
export const page = (title: string, body: string): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escape(title)}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="${Stylesheet.path}"></head>
<body><div class="front"><a class="brand" href="/">Catenet</a><main class="main"><h1>${escape(title)}</h1>
<div class="panel">${body}</div></main></div></body></html>
`

const anchor = ({ href, text }: Link) => `<p><a href="${escape(href)}">${escape(text)}</a></p>`

export const render = (options: {
  readonly title: string
  readonly detail: string
  readonly links?: ReadonlyArray<Link>
}): string => page(options.title, `<p>${escape(options.detail)}</p>${(options.links ?? []).map(anchor).join("")}`)
