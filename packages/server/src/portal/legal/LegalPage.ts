/** One page of prose: a heading and sections. What comes from outside is escaped by the template that takes it. */
import { type Markup, markup } from "@catenet/domain/values/Markup"
import * as Stylesheet from "../../http/Stylesheet.ts"

/** Allows the one style sheet of the page and nothing else. */
export const contentPolicy =
  "default-src 'none'; style-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** The whole document. */
export const render = (title: string, main: Markup): string =>
  markup`<!doctype html>
    <html lang="de">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${Stylesheet.path}" />
      </head>
      <body>
        <div class="front">
        <a class="brand" href="/">Catenet</a>
        <main class="main">
          <h1>${title}</h1>
          ${main}
        </main>
        <footer class="foot">
          <a href="/impressum">Impressum</a>
          <a href="/datenschutz">Datenschutz</a>
          <a href="/nutzungsbedingungen">Nutzungsbedingungen</a>
        </footer>
        </div>
      </body>
    </html>`.text
