/**
 * The one style sheet of all pages, served under a name that holds its hash, so that browsers keep it for good. A page
 * allows no inline style and no picture of another origin.
 */
import { colours } from "@catenet/platform/PageStyles"
import { createHash } from "node:crypto"

const css = `
${colours}
* { box-sizing: border-box }
html { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--ground); color: var(--ink); font-variant-numeric: tabular-nums }
a { color: var(--accent) }
:focus-visible, input[type="datetime-local"]:focus-within { outline: 3px solid var(--accent); outline-offset: 2px }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere }
h2 { font-size: 16px; margin: 0 0 12px }
p { margin: 0 0 12px }
code, .mono { font-family: var(--mono); font-size: .92em; overflow-wrap: anywhere }
h1.mono { font-size: 22px }
.skip { position: absolute; left: -999px; top: 8px; padding: 8px 12px; background: var(--panel) }
.skip:focus { left: 8px; z-index: 1 }
.shell { display: grid; grid-template-columns: 232px minmax(0, 1fr); min-height: 100vh }
.rail { background: var(--panel); border-right: 1px solid var(--line) }
.rail .held { display: flex; flex-direction: column; gap: 20px; padding: 24px 14px; position: sticky; top: 0; height: 100vh;
  overflow: auto }
.brand { display: flex; align-items: center; gap: 10px; padding: 0 10px; font-size: 19px; font-weight: 700;
  color: inherit; text-decoration: none }
.rail ul { list-style: none; margin: 0; padding: 0; display: grid; gap: 2px }
.rail li a { display: block; padding: 8px 10px; border-radius: 8px; color: inherit; text-decoration: none }
.rail li a { display: flex; justify-content: space-between; gap: 8px }
.rail li a:hover { background: var(--ground) }
.rail li a[aria-current] { background: var(--chosen); color: var(--accent); font-weight: 650 }
.foot { margin-top: auto; padding: 12px 10px 0; border-top: 1px solid var(--line); display: grid; gap: 8px;
  font-size: 14px; color: var(--soft); overflow-wrap: anywhere }
.narrow { display: none }
.main { padding: 28px 36px 56px; max-width: calc(1120px + 72px) }
.head { display: flex; justify-content: space-between; align-items: flex-start; gap: 16px; margin-bottom: 24px }
.lead, .hint, .crumb { color: var(--soft) }
.lead { margin: 0 }
.hint, .crumb { font-size: 14px }
.crumb { margin: 0 0 4px }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 20px; margin-bottom: 20px }
.panel > :last-child { margin-bottom: 0 }
.columns { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); gap: 20px; align-items: start }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 200px), 1fr)); gap: 12px; margin: 0 0 24px }
.figures > div { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 16px }
.figures dt { color: var(--soft); font-size: 14px }
.figures dd { margin: 0; font-size: 24px; font-weight: 700 }
.figures > div { display: flex; flex-direction: column-reverse; justify-content: flex-end }
table { width: 100%; border-collapse: collapse }
th { text-align: left; font-size: 13px; color: var(--soft); font-weight: 600 }
th, td { padding: 12px 14px; border-bottom: 1px solid var(--line); vertical-align: baseline; overflow-wrap: break-word }
tbody th, .sub { overflow-wrap: anywhere }
tbody th { min-width: 8em }
td.mono { min-width: 7em; font-size: 13px }
td .sub { min-width: 9em }
td code.word { overflow-wrap: break-word }
.figure { text-align: right }
td.figure, td time, th time, .chip { white-space: nowrap }
td.actions { width: 1%; white-space: nowrap; text-align: right; padding-left: 0 }
td.actions form { display: inline-block }
td.actions form + form { margin: 0 0 0 8px }
td details, th details { margin: 0 }
td details:not([open]), th details:not([open]) { white-space: nowrap }
details > form, details > table, details > h3 { margin-top: 8px }
td .field label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
td .row { flex-wrap: nowrap; margin: 0 }
td details + .row { margin-top: 6px }
.columns > :last-child tbody th { font-size: 14px }
td .row .field { flex: 1 1 90px; min-width: 90px }
tbody tr:last-child > * { border-bottom: 0 }
tbody th { font-size: inherit; color: inherit; font-weight: 400 }
.list { padding: 0; overflow: hidden }
.sub { display: block; font-size: 14px; color: var(--soft) }
.tier { display: inline-block; white-space: nowrap; padding: 2px 10px; border-radius: 8px; font-size: 13px; font-weight: 650 }
.rot { color: var(--rot); background: var(--rot-ground) }
.gelb { color: var(--gelb); background: var(--gelb-ground) }
.gruen { color: var(--gruen); background: var(--gruen-ground) }
.state svg { width: 10px; height: 10px; margin-right: 6px; fill: none; stroke: var(--soft); stroke-width: 2 }
.state .up { fill: var(--gruen); stroke: var(--gruen) }
.state .connected { stroke: var(--gruen) }
.state .down { stroke: var(--rot) }
dl.pairs { margin: 0; display: grid; grid-template-columns: minmax(0, auto) minmax(60%, 1fr); gap: 8px 20px }
dl.pairs dt { color: var(--soft) }
dl.pairs dd { margin: 0; text-align: right; overflow-wrap: anywhere }
form { margin: 0 }
.row { margin-bottom: 12px }
.field { display: grid; gap: 4px; margin-bottom: 12px; max-width: 420px }
.field label { font-weight: 600 }
.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: end }
.row .field { margin: 0; flex: 1 1 180px }
input[type=text], input[type=url], input[type=email], input[type=number], input[type=time], input[type=datetime-local], input[type=file], input:not([type]), select {
  font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: 8px;
  padding: 8px 10px; min-height: 42px; width: 100% }
input[aria-invalid] { border-color: var(--rot) }
.error { color: var(--rot); margin: 0; font-size: 14px }
button, .button { font: inherit; font-weight: 650; cursor: pointer; min-height: 42px; padding: 8px 14px; border-radius: 8px;
  border: 1px solid var(--line); background: var(--panel); color: var(--ink); text-decoration: none; display: inline-block }
button.main-action, .button.main-action { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button.danger { color: var(--rot); border-color: var(--rot) }
button.plain { min-height: 24px; padding: 0; border: 0; background: none; color: var(--accent); font-weight: 400; text-align: left }
.notice { border-left: 4px solid var(--accent) }
.notice.bad { border-left-color: var(--rot) }
pre { font-family: var(--mono); font-size: 14px; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--ground);
  border: 1px solid var(--line); border-radius: 8px; padding: 14px; margin: 0 0 12px; user-select: all }
details { margin-bottom: 12px }
summary { cursor: pointer; padding: 4px 0 }
h3 { font-size: 15px; margin: 16px 0 8px }
ul.plain { list-style: none; margin: 0; padding: 0; display: grid; gap: 12px }
.key summary { padding: 0 }
.scroll { overflow-x: auto; margin-bottom: 12px }
.matrix td, .matrix th { padding: 6px 8px; display: table-cell }
.inline { display: inline; margin: 0 }
.topology { width: 100%; height: auto; display: block; background: var(--ground); border-radius: 8px; touch-action: none }
.topology line { stroke: var(--soft); stroke-width: 2 }
.topology .suggested { stroke: var(--accent); stroke-dasharray: 6 5 }
.topology circle, .topology rect { fill: var(--panel); stroke: var(--accent); stroke-width: 2.5 }
.topology .super-peer rect { fill: var(--chosen) }
.topology .outside circle { stroke: var(--soft); stroke-dasharray: 4 3 }
.topology .chosen circle, .topology .chosen rect { stroke-width: 5 }
.topology text { fill: var(--ink); font: 13px var(--mono); paint-order: stroke; stroke: var(--ground); stroke-width: 4px }
.topology .node { cursor: pointer }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.head > .button, .head > form { flex: none }
h1 + .panel { margin-top: 16px }
.address { margin: 4px 0 0 }
.reference nav ul { columns: 22rem; list-style: none; margin: 0; padding: 0 }
.reference nav a { overflow-wrap: anywhere }
.route { border-top: 1px solid var(--line); padding: 12px 0 }
.route h3 { overflow-wrap: anywhere }
.list > h2 { margin: 20px 14px 8px }
.list > .hint, .list > p { margin: 0 14px 12px }
.panel table { margin-bottom: 12px }
.list table { margin-bottom: 0 }
.panel:not(.list) > table:not(.matrix) :is(th, td):first-child { padding-left: 0 }
.panel:not(.list) > table:not(.matrix) :is(th, td):last-child { padding-right: 0 }
tfoot > tr > * { border-top: 2px solid var(--line); border-bottom: 0; font-weight: 650; color: inherit; font-size: inherit }
.chip { display: inline-block; padding: 2px 8px; border-radius: 8px; font-size: 13px; background: var(--ground); border: 1px solid var(--line); color: var(--soft) }
.chip.gelb { color: var(--gelb); background: var(--gelb-ground) }
.chip.gruen { color: var(--gruen); background: var(--gruen-ground) }
.bars { width: 100%; max-width: 480px; height: 56px; display: block; margin-bottom: 12px }
.bars rect { fill: var(--soft) }
.bars .up { fill: var(--gruen) }
.bars .partly { fill: var(--gelb) }
.bars .down { fill: var(--rot) }
.bars .count { fill: var(--accent) }
.bars .more { fill: var(--accent); opacity: 0.55 }
fieldset { border: 1px solid var(--line); border-radius: 8px; margin: 0 0 12px; padding: 8px 14px; display: flex; flex-wrap: wrap; gap: 0 20px }
fieldset p { margin: 4px 0 }
.columns > div > form > p, .panel form p { margin-bottom: 8px }
.panel form + form, .panel .row + .row, .panel form + :is(.row, .hint, dl.pairs, [data-suggestion]:not(:empty)) { margin-top: 12px }
.panel .row > form + form { margin-top: 0 }
.switch { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 12px; align-items: center; padding: 12px 0;
  border-top: 1px solid var(--line) }
.panel .switch + .switch { margin: 0 }
.panel .switch p { margin: 0 }
.switch .hint { padding-left: 24px }
label:has(> [type=checkbox]) { display: flex; gap: 8px; align-items: baseline }
label > [type=checkbox] { margin: 0; width: 16px; height: 16px; flex: none; position: relative; top: 2px }
textarea { font: 14px/1.4 var(--mono); color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: 8px; padding: 8px 10px; width: 100% }
textarea[aria-invalid] { border-color: var(--rot) }
.languages { display: flex; gap: 12px; align-items: center }
.front { max-width: 640px; margin: 0 auto; padding: 56px 20px }
.front .brand { padding: 0; margin-bottom: 32px; width: fit-content }
.front .main { padding: 0 }
.front address { font-style: normal }
.front h2 { margin-top: 24px }
.front .panel > h2:first-child { margin-top: 0 }
.front .list > h2:first-child { margin-top: 20px }
.front .lead { margin-bottom: 24px }
.front .head .lead { margin-bottom: 0 }
.front .figures { grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)) }
dl.pairs ~ form, dl.pairs ~ .after, dl.pairs + .hint, dl.pairs + details, dl.pairs + pre { margin-top: 16px }
pre + button { margin-bottom: 12px }
button + [role=status]:not(:empty) { margin-top: 12px }
.row:has(.error) { align-items: start }
.row:has(.error) > button { margin-top: 28px }
.foot strong { display: block }
.front .foot { margin-top: 40px; padding: 16px 0 0 }
.brand svg { width: 22px; height: 22px; fill: none; stroke: currentColor; stroke-width: 2 }
@media (max-width: 760px) {
  .shell { display: block }
  .rail { border-right: 0; border-bottom: 1px solid var(--line) }
  .rail .held { position: static; height: auto; flex-flow: row wrap; justify-content: space-between; align-items: center; gap: 4px 12px;
    padding: 10px 16px 14px }
  .wide { display: none }
  .narrow { display: block; margin: 0 }
  .narrow[open] { flex-basis: 100% }
  .narrow summary { padding: 8px 10px; font-weight: 650 }
  .rail .foot { border-top: 0; padding: 0 10px; display: flex; flex-wrap: wrap; gap: 4px 16px; flex-basis: 100%; margin: 0 }
  .rail .foot > span { flex-basis: 100% }
  .foot strong { display: inline }
  .main { padding: 20px 16px 40px }
  .columns { display: block }
  .switch { grid-template-columns: minmax(0, 1fr) }
  .switch > button { justify-self: start; margin-left: 24px }
  .head { display: block }
  .head > .button, .head > form { margin-top: 12px }
  .figures { grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)) }
  dl.pairs { display: block }
  dl.pairs dd { text-align: left; margin-bottom: 8px }
  .panel:not(.list) > table td { padding-left: 0 }
  table, tbody, tfoot, tr, td, tbody th, tfoot th { display: block }
  td.actions { width: auto; white-space: normal; text-align: left; padding-left: 14px }
  td:empty { display: none }
  .figure { text-align: left }
  tfoot > tr > * { border-top: 0 }
  tfoot > tr { border-bottom: 0 }
  tfoot th { padding: 4px 14px }
  tbody:last-child > tr:last-child { border-bottom: 0 }
  .topology text { font-size: 28px; transform: translateY(14px) }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  td, tbody th { border-bottom: 0; padding: 4px 14px }
  tr { padding: 10px 0; border-bottom: 1px solid var(--line) }
  td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); font-size: 14px }
}
`
  .replace(/\s*\n\s*/gu, "\n")
  .trim()

const hash = createHash("sha256").update(css).digest("hex").slice(0, 16)

export const path = `/portal/static/portal-${hash}.css` as const
export const text = css
/** By which the policy of a page that holds the sheet allows it. */
export const sha256 = createHash("sha256").update(css).digest("base64")
