/** What a visitor sees at a gate: one title, one sentence, and what can be done. Everything that is put in is escaped. */

const escape = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

export const contentType = "text/html; charset=utf-8"

export interface Link {
  readonly href: string
  readonly text: string
}

const page = (title: string, body: string): string =>
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

/** The form in which a visitor asks to be let in. */
export const request = (host: string, action: string): string =>
  page(
    "Ask for access",
    `<p>The owner of ${escape(host)} sees your address and your note, and may let you in.</p>` +
      `<form method="post" action="${escape(action)}"><input type="hidden" name="host" value="${escape(host)}">` +
      `<p><label>E-mail address <input type="email" name="email" autocomplete="email" maxlength="254" required></label></p>` +
      `<p><label>Note <textarea name="note" maxlength="500" rows="4"></textarea></label></p>` +
      `<p><button>Ask</button></p></form>`
  )
