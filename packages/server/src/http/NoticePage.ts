/** A small page: one title, one sentence, and what can be done. Everything that is put in is escaped. */
import { escape } from "@catenet/domain/values/Markup"

export const contentType = "text/html; charset=utf-8"

export interface Link {
  readonly href: string
  readonly text: string
}

/** A whole page around markup that is trusted. */
export const page = (title: string, body: string): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escape(title)}</title></head>
<body><main><h1>${escape(title)}</h1>${body}</main></body></html>
`

const anchor = ({ href, text }: Link) => `<p><a href="${escape(href)}">${escape(text)}</a></p>`

export const render = (options: {
  readonly title: string
  readonly detail: string
  readonly links?: ReadonlyArray<Link>
}): string => page(options.title, `<p>${escape(options.detail)}</p>${(options.links ?? []).map(anchor).join("")}`)
