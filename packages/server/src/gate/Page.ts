/** What a visitor sees who is turned away: one title, one sentence. Everything that is put in is escaped. */

const escape = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

export const contentType = "text/html; charset=utf-8"

export const render = ({ detail, title }: { readonly title: string; readonly detail: string }): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escape(title)}</title></head>
<body><main><h1>${escape(title)}</h1><p>${escape(detail)}</p></main></body></html>
`
