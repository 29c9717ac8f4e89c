/** Style sheet and script of the inspector's pages. */
import { colours } from "@catenet/platform/PageStyles"

export const sheet = `${colours}
* { box-sizing: border-box }
html { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--ground); color: var(--ink); font-variant-numeric: tabular-nums }
header, main { max-width: 1180px; margin: 0 auto; padding: 0 32px }
header { display: flex; align-items: center; gap: 10px; height: 52px }
header a { display: flex; align-items: center; gap: 10px; color: inherit; text-decoration: none; font-weight: 680; font-size: 17px }
header svg { width: 22px; height: 22px; fill: none; stroke: var(--accent); stroke-width: 2 }
header span { color: var(--soft); font-weight: 500 }
main { padding-bottom: 48px }
h1 { font-size: 22px; font-weight: 650; line-height: 1.3; margin: 12px 0 16px; overflow-wrap: anywhere }
h2 { font-size: 17px; font-weight: 620; margin: 0 0 12px }
h3 { font-size: 15px; font-weight: 620; margin: 16px 0 8px }
p { margin: 0 0 12px; max-width: 72ch }
a { color: var(--accent) }
.soft, .hint { color: var(--soft) }
.hint { font-size: 13px }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 12px; padding: 20px; margin: 0 0 20px }
.tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 0 0 16px }
.tools form { display: flex; gap: 8px; align-items: end }
.search { flex: 1 1 300px }
.search label { flex: 1; min-width: 0 } .search .service { flex: 0 1 160px }
label { display: block; font-size: 13px; font-weight: 560 }
input, textarea, select { display: block; width: 100%; margin-top: 4px; padding: 6px 10px; font: inherit; color: var(--ink);
  background: var(--panel); border: 1px solid var(--control); border-radius: 6px }
input, select { height: 34px }
textarea { font-family: var(--mono); font-size: 13px; min-height: 160px }
.field { margin: 0 0 16px }
.button { display: inline-flex; align-items: center; height: 34px; padding: 0 14px; font: inherit; font-weight: 560; color: var(--ink);
  background: var(--panel); border: 1px solid var(--line-strong); border-radius: 6px; text-decoration: none; cursor: pointer }
.button:hover { background: var(--sunken) }
.primary, .primary:hover { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
table { width: 100%; border-collapse: collapse; table-layout: fixed }
th { text-align: left; font-size: 12px; font-weight: 500; color: var(--soft); background: var(--sunken); padding: 6px 10px }
td { padding: 6px 10px; border-top: 1px solid var(--line); overflow-wrap: anywhere; vertical-align: top }
.rows td { height: 34px } .rows div { white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.rows a { text-decoration: none }
.rows a:hover { text-decoration: underline }
.rows tr:hover { background: var(--sunken) }
.list { padding: 0; overflow: hidden }
.list caption, .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.when { width: 96px } .method { width: 92px } .status { width: 120px } .took { width: 96px } .size { width: 96px }
.name { width: 240px }
.mono { font-family: var(--mono); font-size: 13px } h1.mono { font-size: 20px }
.chip { display: inline-block; padding: 0 8px; border-radius: 999px; font-size: 12px; background: var(--sunken); color: var(--soft) }
.good { color: var(--gruen) } .warn { color: var(--gelb) } .bad { color: var(--rot) }
.empty { padding: 32px 20px; color: var(--soft) }
.callout { background: var(--accent-pale); border-radius: 8px; padding: 12px 16px; margin: 0 0 20px }
.callout p { margin: 0; max-width: none }
.callout.wrong { background: var(--rot-pale); color: var(--rot) }
dl { display: grid; grid-template-columns: 160px 1fr; gap: 6px 20px; margin: 0 }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
pre { margin: 0; padding: 12px 16px; max-height: 480px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  font: 13px/1.5 var(--mono); background: var(--code-ground); color: var(--code-ink); border-radius: 8px }
.under { margin: 8px 0 0 }
@media (max-width: 760px) {
  header, main { padding-left: 16px; padding-right: 16px }
  .panel { padding: 16px } .list { padding: 0 }
  .button, input, select { height: 44px }
  .search { flex-basis: 100% } .search:has(select) { flex-wrap: wrap } .search:has(select) label:first-child { flex-basis: 100% }
  dl { grid-template-columns: 1fr; gap: 0 } dd { margin-bottom: 8px }
  table, tbody, tr, td { display: block }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  tr { padding: 8px 16px; border-top: 1px solid var(--line) }
  td { padding: 0; border: 0 }
  .rows tr { display: grid; grid-template-columns: auto auto 1fr auto auto; gap: 0 12px }
  .rows td { height: auto } .rows .path { grid-column: 1 / -1; min-width: 0; order: -1 } .rows div { white-space: normal; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3 }
  .when, .method, .status, .took, .size, .name { width: auto }
}
`

/** Follows the list while its page is looked at, and copies. Everything else works without it. */
export const script = `"use strict";
const rows = document.querySelector("#rows");
const said = document.querySelector("#said");
let tag = rows?.dataset.tag;
const follow = async () => {
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch("/rows" + location.search, { headers: { "If-None-Match": tag } });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag");
        const focused = document.activeElement?.closest("#rows a")?.getAttribute("href");
        rows.innerHTML = await answer.text();
        if (focused) rows.querySelector('a[href="' + CSS.escape(focused) + '"]')?.focus();
      }
    } catch {}
  }
  setTimeout(follow, 1000);
};
if (rows) setTimeout(follow, 1000);
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const before = button.textContent;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    said.textContent = button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; said.textContent = ""; }, 2000);
  });
}
`
