/** Type, space and shape, and the frame around every page of a signed-in account. */
export const shellStyles = `
:root {
  --t-caption: 0.75rem;
  --t-small: 0.8125rem;
  --t-body: 0.875rem;
  --t-lead: 1rem;
  --t-h3: 0.9375rem;
  --t-h2: 1.0625rem;
  --t-h1: 1.375rem;
  --t-figure: 1.625rem;
  --t-hero: clamp(2rem, 1.2rem + 3vw, 3.25rem);
  --s1: 4px;
  --s2: 8px;
  --s3: 12px;
  --s4: 16px;
  --s5: 20px;
  --s6: 24px;
  --s8: 32px;
  --s12: 48px;
  --s16: 64px;
  --radius-small: 6px;
  --radius: 8px;
  --radius-large: 12px;
  --control-height: 34px;
  --rail: 228px;
  --content: 1180px;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
@media (pointer: coarse) { :root { --control-height: 44px; } }
*, *::before, *::after { box-sizing: border-box; }
html { font: 100%/1.5 var(--text); -webkit-text-size-adjust: 100%; background: var(--ground); color: var(--ink); }
body { margin: 0; font-size: var(--t-body); font-variant-numeric: tabular-nums; }
h1, h2, h3, p, ul, ol, dl, dd, figure, fieldset { margin: 0; padding: 0; }
ul, ol { list-style: none; }
fieldset { border: 0; min-width: 0; }
h1 { font-size: var(--t-h1); line-height: 1.25; font-weight: 650; letter-spacing: -0.012em; overflow-wrap: anywhere; }
h2 { font-size: var(--t-h2); line-height: 1.35; font-weight: 620; letter-spacing: -0.006em; }
h3 { font-size: var(--t-h3); line-height: 1.4; font-weight: 620; }
a { color: var(--accent); text-underline-offset: 2px; text-decoration-thickness: 1px; }
a:hover { color: var(--accent-hover); }
svg { display: block; flex: none; }
.i { width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
code, .mono { font-family: var(--mono); font-size: 0.94em; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: var(--radius-small); }
.soft { color: var(--soft); }
.small { font-size: var(--t-small); }
.strong { font-weight: 600; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: var(--s3); top: var(--s3); z-index: 9; padding: var(--s2) var(--s3); background: var(--panel); }
.row { display: flex; align-items: center; gap: var(--s2); flex-wrap: wrap; }
.row > span { min-width: 0; overflow-wrap: anywhere; }
.between { display: flex; align-items: center; justify-content: space-between; gap: var(--s4); flex-wrap: wrap; }
.stack { display: grid; gap: var(--s4); align-content: start; }
.stack-wide { display: grid; gap: var(--s6); align-content: start; }
.cols { display: grid; gap: var(--s5); grid-template-columns: minmax(0, 1fr) 340px; align-items: start; }
.cols.equal { align-items: stretch; } .cols.equal > .panel { display: flex; flex-direction: column; } .cols.equal > .panel > :nth-child(2) { flex: 1; align-content: center; }
.panel > footer .row { flex-wrap: nowrap; }
p, dd, li, h2, h3 { overflow-wrap: break-word; }
code, .mono { overflow-wrap: anywhere; }
[hidden] { display: none !important; }
.sprite { position: absolute; width: 0; height: 0; overflow: hidden; }
h1.mono { font-size: 1.25rem; }
.mark { fill: currentColor; width: 10px; height: 10px; }
.mark.idle, .mark.unknown, .mark.connected { fill: none; stroke: var(--faint); stroke-width: 2; }
.up .mark, .mark.up { fill: var(--gruen-mark); } .down .mark, .mark.down { fill: var(--rot-mark); } .part .mark, .mark.part { fill: var(--gelb-mark); }
.head-lead, .lead { color: var(--soft); max-width: 72ch; }
.sub { display: block; font-size: var(--t-caption); color: var(--soft); font-weight: 400; }
.shell { display: grid; grid-template-columns: var(--rail) minmax(0, 1fr); min-height: 100vh; }
.rail { background: var(--panel); border-right: 1px solid var(--line); }
.rail-held { position: sticky; top: 0; height: 100vh; height: 100dvh; display: flex; flex-direction: column; padding: var(--s3); gap: var(--s1); overflow-y: auto; }
.brand { display: flex; align-items: center; gap: 10px; padding: 6px var(--s2); font-weight: 680; font-size: 1.0625rem; letter-spacing: -0.01em; color: var(--ink); text-decoration: none; }
.brand svg { width: 22px; height: 22px; fill: none; stroke: var(--accent); stroke-width: 2; }
.who summary { border: 0; }
.who summary span.lines { min-width: 0; display: grid; line-height: 1.3; }
.who summary .soft { font-weight: 400; }
.who summary span.lines > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.nav { display: grid; gap: 2px; }
.nav a { display: flex; align-items: center; gap: 10px; min-height: 34px; padding: 0 var(--s2); border-radius: var(--radius-small); color: var(--soft); text-decoration: none; font-weight: 520; }
.nav a:hover { background: var(--sunken); color: var(--ink); }
.nav a[aria-current] { background: var(--accent-pale); color: var(--accent); font-weight: 600; }
.nav .n { margin-left: auto; font-size: var(--t-caption); color: var(--faint); font-weight: 520; }
.nav .n.due { color: var(--rot); background: var(--rot-pale); border-radius: 9px; padding: 0 7px; font-weight: 650; }
.nav-title { padding: var(--s4) var(--s2) var(--s1); font-size: var(--t-caption); color: var(--faint); font-weight: 560; }
.rail-foot { margin-top: auto; border-top: 1px solid var(--line); padding-top: var(--s2); }
.avatar { width: 26px; height: 26px; border-radius: 50%; display: inline-grid; place-items: center; flex: none; font-size: 0.6875rem; font-weight: 650; background: var(--accent-pale); color: var(--accent); }
.avatar.square { border-radius: var(--radius-small); }
.bar { display: flex; align-items: center; gap: var(--s3); height: 52px; padding: 0 var(--s8); border-bottom: 1px solid var(--line); background: var(--panel); }
.crumbs { display: flex; align-items: center; gap: 6px; min-width: 0; color: var(--soft); }
.crumbs a { color: var(--soft); text-decoration: none; }
.crumbs a:hover { color: var(--ink); text-decoration: underline; }
.crumbs b { font-weight: 560; color: var(--ink); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bar-search { margin-left: auto; } .bar-end { display: flex; align-items: center; gap: var(--s2); }
.search { position: relative; display: flex; align-items: center; }
.search .i { position: absolute; left: 10px; color: var(--faint); pointer-events: none; }
.search input { width: 290px; padding-left: 32px; }
.search kbd { position: absolute; right: 8px; }
.found { position: absolute; z-index: 4; top: calc(100% + 6px); right: 0; width: min(440px, 90vw); max-height: 70vh; overflow-y: auto; box-shadow: var(--shadow-float); } .found .i { position: static; } .found .name { color: var(--ink); font-weight: 600; text-decoration: none; overflow-wrap: anywhere; }
dialog { border: 1px solid var(--line); border-radius: var(--radius-large); background: var(--raised); color: var(--ink); padding: var(--s6); box-shadow: var(--shadow-float); min-width: min(360px, 90vw); } dialog > * + * { margin-top: var(--s4); } dialog::backdrop { background: rgb(0 0 0 / 40%); }
kbd { font: 600 0.6875rem var(--mono); padding: 1px 6px; border: 1px solid var(--line-strong); border-radius: 4px; color: var(--soft); background: var(--sunken); }
.main { padding: var(--s6) var(--s8) var(--s16); max-width: calc(var(--content) + 2 * var(--s8)); display: grid; gap: var(--s5); align-content: start; }
.head { display: flex; align-items: flex-start; justify-content: space-between; gap: var(--s4); flex-wrap: wrap; }
.head > :first-child { flex: 1 1 260px; min-width: 0; display: grid; gap: var(--s1); }

.who { position: relative; }
.who summary { display: flex; align-items: center; gap: var(--s2); padding: 6px var(--s2); border-radius: var(--radius); cursor: pointer; list-style: none; font-weight: 550; min-height: 44px; }
.who summary::-webkit-details-marker { display: none; }
.who summary > .i { margin-left: auto; color: var(--faint); }
.who summary:hover { background: var(--sunken); }
.who-menu { display: grid; gap: var(--s1); padding: var(--s2) 0; }
.who-menu .nav { gap: 2px; }
.who-menu .quiet { width: 100%; justify-content: flex-start; padding: 0 var(--s2); font-weight: 520; }
.languages { display: flex; gap: var(--s2); align-items: center; padding: 0 var(--s2); color: var(--soft); }
.languages span { font-weight: 620; color: var(--ink); }
.languages button { min-height: 26px; }
.narrow, .button.narrow { display: none; }
.count { min-width: 18px; text-align: center; margin-left: auto; font-size: var(--t-caption); line-height: 18px; color: var(--rot); background: var(--rot-pale); border-radius: 9px; padding: 0 6px; font-weight: 650; }
.bar .count { margin: 0; }
.crumbs span[aria-hidden] { color: var(--faint); }
`
