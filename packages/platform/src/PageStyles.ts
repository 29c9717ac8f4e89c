/**
 * How pages look: the colours of the portal, light and dark, and a small sheet for pages of one sentence, which a program
 * that serves no style sheet puts into the page itself.
 */

import { Markup, markup } from "./Markup.ts"

/** As properties of `:root`, the light ones first. */
export const colours = `:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --panel: #ffffff; --ink: #16181d; --soft: #5b6270; --line: #e4e5e9; --accent: #1f5fd6;
  --on-accent: #ffffff; --chosen: #e4ecfa;
  --rot: #c2362b; --gelb: #8a5800; --gruen: #1c7a46;
  --rot-ground: #fbe9e7; --gelb-ground: #fdf1d8; --gruen-ground: #e3f4ea;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101216; --panel: #171a20; --ink: #e9ebef; --soft: #9aa3b2; --line: #2a2f39; --accent: #7aa5ff;
    --on-accent: #101216; --chosen: #1d2740;
    --rot: #ff8a7f; --gelb: #f1c15b; --gruen: #6fd69a;
    --rot-ground: #3a1f1d; --gelb-ground: #382b12; --gruen-ground: #16301f;
  }
}`

/** For a page of one heading and a few sentences. */
export const smallSheet = `${colours}
* { box-sizing: border-box }
html { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
body { margin: 0; padding: 0 16px; background: var(--ground); color: var(--ink) }
main { max-width: 640px; margin: 12vh auto 0; padding: 20px; background: var(--panel); border: 1px solid var(--line);
  border-radius: 10px }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 12px; overflow-wrap: anywhere }
p { margin: 0 0 12px; color: var(--soft) }
a { color: var(--accent) }
dl { margin: 0; display: grid; grid-template-columns: auto 1fr; gap: 8px 20px }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere; font-family: var(--mono); font-size: 14px }
@media (max-width: 480px) { dl { display: block } dd { margin-bottom: 8px } }`

/** The mark and the name that stand at the head of every page. */
export const brandMark: Markup = markup`<svg viewBox="0 0 24 24" aria-hidden="true">
  <circle cx="5" cy="5" r="3" /><circle cx="19" cy="5" r="3" /><circle cx="12" cy="19" r="3" />
  <path d="M8 5h8M6.5 7.6l4 8.8M17.5 7.6l-4 8.8" />
</svg>`

/** The same where it leads nowhere. */
const brand: Markup = markup`<span class="brand">${brandMark} Catenet</span>`

/** For a page of one sentence in the shell of the portal. */
export const shellSheet = `${colours}
* { box-sizing: border-box }
html { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100% }
body { margin: 0 auto; max-width: 640px; padding: 56px 20px; background: var(--ground); color: var(--ink) }
.brand { display: flex; align-items: center; gap: 10px; margin-bottom: 32px; font-size: 19px; font-weight: 700 }
.brand svg { width: 22px; height: 22px; fill: none; stroke: currentColor; stroke-width: 2 }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 16px; overflow-wrap: anywhere }
.panel { padding: 20px; background: var(--panel); border: 1px solid var(--line); border-left: 4px solid var(--accent);
  border-radius: 10px }
p { margin: 0 }
a { color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }`

/**
 * A page of one heading and one panel, whole: its sheet is inside, it has no script, and it loads nothing.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { markup } from "@catenet/platform/Markup"
 * import { panelPage, shellSheet } from "@catenet/platform/PageStyles"
 *
 * const page = panelPage({ language: "en", title: "Away", sheet: shellSheet, panel: markup`<p>Come again.</p>` })
 * assert.ok(page.includes(`<h1>Away</h1><div class="panel"><p>Come again.</p></div>`))
 * ```
 */
export const panelPage = (page: {
  readonly language: string
  readonly title: string
  readonly sheet: string
  readonly panel: Markup
}): string =>
  markup`<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title} · Catenet</title>
<link rel="icon" href="data:,">
<style>${new Markup(page.sheet)}</style>
</head>
<body><header>${brand}</header><main><h1>${page.title}</h1><div class="panel">${page.panel}</div></main></body>
</html>
`.text
