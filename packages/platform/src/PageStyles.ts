/**
 * How pages look: the colours of the portal, light and dark, and a small sheet for pages of one sentence, which a program
 * that serves no style sheet puts into the page itself.
 */

import { Markup, markup } from "./Markup.ts"

/** As properties of `:root`, the light ones first. */
export const colours = `:root {
  color-scheme: light dark;
  --ground: #f7f8fa; --panel: #ffffff; --sunken: #f0f2f5; --raised: #ffffff; --ink: #12151c; --soft: #545c6b;
  --faint: #646d7d; --line: #e4e7ec; --line-strong: #cdd2db; --control: #868e9d; --accent: #1f5fd6;
  --accent-hover: #184eb4; --accent-pale: #eaf1fd; --on-accent: #ffffff; --focus: #1f5fd6; --gruen: #156f42;
  --gruen-pale: #e4f5eb; --gruen-mark: #23915a; --gelb: #855600; --gelb-pale: #fdf2da; --gelb-mark: #c07e00;
  --rot: #b42a20; --rot-pale: #fdebe9; --rot-mark: #d0392d; --none-mark: #868e9d; --chart: #1f5fd6;
  --chart-fill: #dfe9fb; --chart-second: #7c8aa3; --grid: #e9ecf0; --code-ground: #12161e; --code-ink: #e6eaf1;
  --code-soft: #a3adbd; --code-accent: #9cc0ff; --shadow: 0 1px 2px rgb(18 21 28 / 5%);
  --shadow-float: 0 8px 28px rgb(18 21 28 / 14%), 0 1px 3px rgb(18 21 28 / 10%);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1015; --panel: #14181f; --sunken: #10141a; --raised: #1a1f28; --ink: #e9ecf2; --soft: #a3acbb;
    --faint: #8f99a9; --line: #252b35; --line-strong: #363e4b; --control: #6b7586; --accent: #86adff;
    --accent-hover: #a9c5ff; --accent-pale: #17233c; --on-accent: #0b1222; --focus: #86adff; --gruen: #74d8a2;
    --gruen-pale: #10291d; --gruen-mark: #3fb67a; --gelb: #efc269; --gelb-pale: #2c220e; --gelb-mark: #d69a2b;
    --rot: #ff968b; --rot-pale: #331816; --rot-mark: #ee6357; --none-mark: #5b6574; --chart: #86adff;
    --chart-fill: #1a2a4a; --chart-second: #8793a8; --grid: #1f252e; --code-ground: #090c11; --code-ink: #e6eaf1;
    --code-soft: #98a2b3; --code-accent: #9cc0ff; --shadow: none; --shadow-float: 0 10px 32px rgb(0 0 0 / 50%);
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

/** The same as the icon of a page, for its `link` element. */
export const favicon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%231f5fd6' stroke-width='2'%3E%3Ccircle cx='5' cy='5' r='3'/%3E%3Ccircle cx='19' cy='5' r='3'/%3E%3Ccircle cx='12' cy='19' r='3'/%3E%3Cpath d='M8 5h8M6.5 7.6l4 8.8M17.5 7.6l-4 8.8'/%3E%3C/svg%3E"

/** The same where it leads nowhere. */
const brand: Markup = markup`<span class="brand">${brandMark} Catenet</span>`

/** For a page of one sentence in the shell of the portal. */
export const shellSheet = `${colours}
* { box-sizing: border-box }
html { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; padding: 20px; display: flex; flex-direction: column; gap: 20px; background: var(--ground);
  color: var(--ink) }
header { width: 100%; max-width: 1112px; margin: 0 auto }
.brand { display: flex; align-items: center; gap: 10px; font-size: 17px; font-weight: 680 }
.brand svg { width: 22px; height: 22px; fill: none; stroke: var(--accent); stroke-width: 2 }
main { width: 100%; max-width: 440px; margin: auto; padding: 32px; background: var(--panel); border: 1px solid var(--line);
  border-radius: 12px; box-shadow: var(--shadow-float) }
h1 { font-size: 24px; line-height: 1.25; font-weight: 650; margin: 0 0 16px; overflow-wrap: anywhere }
p { margin: 0; color: var(--soft) }
.site { margin-bottom: 8px; color: var(--ink); font: 600 14px var(--mono); overflow-wrap: anywhere }
a { color: var(--accent) }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }`

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
<link rel="icon" href="${favicon}">
<style>${new Markup(page.sheet)}</style>
</head>
<body><header>${brand}</header><main><h1>${page.title}</h1><div class="panel">${page.panel}</div></main></body>
</html>
`.text
