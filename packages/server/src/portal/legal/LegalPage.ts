/** One page of prose: a heading and sections. What comes from outside is escaped by the template that takes it. */
import { Markup, markup } from "@catenet/domain/values/Markup"
import { createHash } from "node:crypto"

const css = `
:root { color-scheme: light dark; font: 1.05rem/1.6 system-ui, sans-serif }
body { margin: 0 auto; max-width: 42rem; padding: 1.5rem }
h2 { font-size: 1.15rem; margin-top: 2rem }
address { font-style: normal }
footer { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); margin-top: 3rem; padding-top: 1rem }
footer a { margin-right: 1rem }
`

/** Allows the one style sheet of the page and nothing else. */
export const contentPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(css).digest("base64")}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/** The whole document. */
export const render = (title: string, main: Markup): string =>
  markup`<!doctype html>
    <html lang="de">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>${new Markup(css)}</style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${main}
        </main>
        <footer>
          <a href="/impressum">Impressum</a>
          <a href="/datenschutz">Datenschutz</a>
          <a href="/nutzungsbedingungen">Nutzungsbedingungen</a>
        </footer>
      </body>
    </html>`.text
