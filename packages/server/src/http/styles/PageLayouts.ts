/** Pages of everybody, and what changes on small screens. */
export const pageLayouts = `
.public { min-height: 100vh; display: flex; flex-direction: column; }
.top { display: flex; align-items: center; gap: var(--s6); max-width: 1160px; width: 100%; margin: 0 auto; padding: var(--s4) var(--s6); }
.top .brand { padding-left: 0; padding-right: 0; } .top .end { margin-left: auto; display: flex; gap: var(--s2); }
.hero { max-width: 1160px; margin: 0 auto; padding: var(--s12) var(--s6); display: grid; grid-template-columns: minmax(0, 1.2fr) minmax(0, 1fr); gap: var(--s12); align-items: center; }
.hero h1 { font-size: var(--t-hero); line-height: 1.08; letter-spacing: -0.032em; font-weight: 700; text-wrap: balance; }
.hero .lead { font-size: 1.125rem; margin: var(--s5) 0; max-width: 46ch; }
.wall { background: var(--panel); border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.band { max-width: 1160px; margin: 0 auto; padding: var(--s12) var(--s6); width: 100%; }
.band > h2 { font-size: 1.75rem; letter-spacing: -0.022em; line-height: 1.2; margin-bottom: var(--s3); font-weight: 670; }
.band > .lead { margin-bottom: var(--s6); }
.three, .go { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: var(--s6) var(--s5); }
.proof, .go > li { display: grid; gap: var(--s2); align-content: start; } .proof p, .go p { color: var(--soft); }
.proof .seal { width: 38px; height: 38px; border-radius: 10px; display: grid; place-items: center; } .proof .seal .i { width: 19px; height: 19px; }
.go { counter-reset: go; } .go > li { counter-increment: go; justify-items: start; } .go pre { width: 100%; }
.go > li::before { content: counter(go); width: 30px; height: 30px; border-radius: 50%; display: grid; place-items: center; background: var(--accent-pale); color: var(--accent); font-weight: 680; }
.public .foot { border-top: 1px solid var(--line); } .public .foot > div { max-width: 1160px; margin: 0 auto; padding: var(--s5) var(--s6); display: flex; justify-content: space-between; gap: var(--s2) var(--s5); flex-wrap: wrap; color: var(--soft); font-size: var(--t-small); }
.door .notice { border: 0; padding: 0; } .door .panel.pad { gap: var(--s1); }
.main > section.pad > .seal { display: none; }
.door { flex: 1; display: grid; place-content: center; justify-items: center; padding: var(--s8) var(--s5); gap: var(--s5); grid-template-columns: minmax(0, 440px); }
.door .panel { width: 100%; padding: var(--s8); display: grid; gap: var(--s5); box-shadow: var(--shadow-float); }
.door h1 { font-size: 1.5rem; }
.door .field input { max-width: none; min-height: 42px; }
.once { display: grid; gap: var(--s5); grid-template-columns: minmax(0, 1fr) auto; align-items: start; }
.door .seal { width: 48px; height: 48px; border-radius: 14px; display: grid; place-items: center; }
.door .seal .i { width: 23px; height: 23px; }
.tight { gap: 4px; } .nowrap { flex-wrap: nowrap; }
.inline-form .narrow { flex: 0 1 112px; }
.inline-form .narrow label { white-space: nowrap; }
.narrow-page { max-width: 860px; }
.grow { width: 100%; max-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.nowrap-cell { white-space: nowrap; }
.left { justify-self: start; }
.seal.broken { background: var(--rot-pale); color: var(--rot); }
.front { max-width: 720px; margin: 0 auto; padding: var(--s12) var(--s5); }
.front > header { margin-bottom: var(--s8); } .front .brand { padding: 0; width: fit-content; }
.front .main { padding: 0; } .front .foot { margin-top: var(--s12); padding-top: var(--s4); border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: var(--s3) var(--s5); color: var(--soft); font-size: var(--t-small); justify-content: space-between; }
.front h1 { font-size: 1.75rem; } .front address { font-style: normal; } .foot a { color: var(--soft); }
.prose > * + * { margin-top: var(--s3); }
.reference { display: grid; gap: var(--s5); } .reference nav ul { columns: 22rem; } .reference nav a, .route h3 { overflow-wrap: anywhere; }
.route { border-top: 1px solid var(--line); padding: var(--s3) 0; } .route > * + * { margin-top: var(--s2); }
@media (max-width: 1080px) {
  .cols, .cols-even { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 760px) {
  .shell { display: block; padding-bottom: 64px; }
  .rail { position: fixed; inset: auto 0 0 0; z-index: 5; border: 0; border-top: 1px solid var(--line); padding-bottom: env(safe-area-inset-bottom); }
  .rail-held { position: static; height: auto; flex-direction: row; padding: 0; gap: 0; overflow: visible; }
  .rail .brand, .rail .nav-title, .rail-held > .nav.wide, .rail .who summary > .lines, .rail .who summary > .avatar { display: none; }
  .rail-held > .nav:not(.wide) { flex: 4; display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0; }
  .rail-held > .nav a, .who summary { display: grid; justify-items: center; align-content: center; gap: 3px; padding: 8px 2px; border-radius: 0; font-size: 0.6875rem; font-weight: 560; min-height: 56px; color: var(--soft); }
  .rail-held > .nav a[aria-current] { background: none; color: var(--accent); }
  .rail-held > .nav > [data-area="topologies"] { display: none; }
  .rail-held > .nav .i, .who summary .i { width: 20px; height: 20px; margin: 0; color: inherit; }
  .rail-foot { flex: 1; margin: 0; border: 0; padding: 0; }
  .who { position: static; } .who summary { width: 100%; }
  .who-menu { position: absolute; right: 0; left: 0; bottom: 100%; max-height: 70vh; overflow-y: auto; padding: var(--s3) var(--s4); background: var(--raised); border-top: 1px solid var(--line); box-shadow: var(--shadow-float); }
  .who-menu .nav a { min-height: 44px; } .narrow { display: block; } .button.narrow { display: inline-flex; } .studio .button.narrow { display: none; } .narrow.nav { display: grid; }
  .bar { padding: 0 var(--s4); gap: var(--s2); }
  .bar .bar-end { flex: none; } .bar .bar-end .button { white-space: nowrap; overflow-wrap: normal; }
  .bar .search, .bar .hide { display: none; } .bar-end { margin-left: auto; }
  .main { padding: var(--s4) var(--s4) var(--s8); gap: var(--s4); }
  .panel > header, .panel .pad, .setting, .items > li, .steps > li { padding-left: var(--s4); padding-right: var(--s4); }
  .health { flex-wrap: wrap; padding: var(--s4); } .tally { margin-left: 0; width: 100%; justify-content: space-between; }
  .items > li { grid-template-columns: auto minmax(0, 1fr); } .items > li > :nth-child(3) { grid-column: 2; justify-self: start; margin-top: 2px; }
  .tabs { margin: 0 calc(-1 * var(--s4)); padding: 0 var(--s4); gap: var(--s4); }
  .filters .search, .filters .search input { width: 100%; } .filters .end { margin-left: 0; }
  .segments { width: 100%; overflow-x: auto; } .segments a { flex: 1; justify-content: center; }
  button:not(.tiny, .copy, .plain, td button), .button:not(.tiny), input:not([type="checkbox"], [type="radio"]), select { min-height: 44px; }
  button:not(.tiny), .button:not(.tiny) { white-space: normal; line-height: 1.2; text-align: center; max-width: 100%; overflow-wrap: anywhere; }
  .crumbs { overflow: hidden; }
  .tiny { white-space: nowrap; }
  .callout { grid-template-columns: auto minmax(0, 1fr); } .callout > :nth-child(3) { grid-column: 2; justify-self: start; }
  .hide, table td.hide { display: none !important; }
  .chart .x span:nth-child(even) { display: none; }
  .strip { width: 100%; } .way { grid-template-columns: minmax(0, 1fr); gap: var(--s4); padding: var(--s4); }
  .way > li { grid-template-columns: 46px minmax(0, 1fr); justify-items: start; text-align: left; gap: 0 var(--s3); }
  .way .seal { grid-row: 1 / 4; align-self: start; } .way .chip { grid-column: 2; margin-top: 4px; }
  .way p { max-width: none; }
  .way > li::after { top: 46px; bottom: calc(-1 * var(--s4)); left: 22px; right: auto; border-top: 0; border-left: 2px solid var(--gruen-mark); }
  .way > li.plain::after { border-left: 2px dashed var(--control); } .way > li.cut::after { border-left: 2px dashed var(--rot-mark); }
  .way .hop { display: none; }
  .code { padding-right: var(--s4); padding-bottom: 52px; } .code button { top: auto; bottom: var(--s2); min-height: 36px; }
  .setting { gap: var(--s1) var(--s3); } .danger-zone .setting, .once { grid-template-columns: minmax(0, 1fr); gap: var(--s2); } .chart svg.plot { height: 130px; }
  .door .panel { padding: var(--s5); }
  table, tbody, tfoot, tr, td, tbody th, tfoot th { display: block; }
  .tunnels tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 4px var(--s3); padding: var(--s3) var(--s4); align-items: start; }
  .tunnels tr > .tick { grid-area: 3 / 2 / 5 / 3; place-self: center end; width: auto; } .tunnels tr:has(> .tick) > td.figure:not(.tick) { grid-column: 1 / 2; } .tick input[type="checkbox"] { width: 22px; height: 22px; max-width: none; }
  .tunnels thead { display: none; } .tunnels tr > td.figure { grid-column: 1 / 3; }
  .tunnels tr > .main-cell { grid-area: 1 / 1; } .tunnels tr > .state-cell { grid-area: 1 / 2; } .tunnels .state-cell .two { justify-items: end; } .tunnels tr > .mode-cell { grid-area: 2 / 1 / 3 / 3; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { padding: var(--s3) 0; border-bottom: 1px solid var(--line); } tbody:last-child > tr:last-child { border-bottom: 0; }
  :is(td, tbody th, tfoot th):is(th, td) { border: 0; padding: 2px var(--s4); } .tunnels :is(td, th):is(th, td), .pad > table :is(th, td):is(th, td) { padding-left: 0; padding-right: 0; }
  td:empty { display: none; } td.actions { width: auto; white-space: normal; text-align: left; padding-top: var(--s2); } td.figure { text-align: left; }
  td[data-label]::before { content: attr(data-label) ":\\00a0"; color: var(--soft); font-size: var(--t-small); }
  .matrix, .matrix tbody { display: table; } .matrix tr { display: table-row; } .matrix :is(td, th):is(td, th) { display: table-cell; padding: 6px var(--s2); }
  .list > h2, .list > .hint, .list > p, .panel > h2, .tiles > div, .panel.pad { padding-left: var(--s4); padding-right: var(--s4); }
  .pairs { display: block; } .pairs dd + dt { margin-top: var(--s2); }
  .hero, .three, .go { grid-template-columns: minmax(0, 1fr); } .hero { padding: var(--s6) var(--s4); gap: var(--s6); } .band { padding: var(--s8) var(--s4); } .top { padding: var(--s3) var(--s4); }
  .front { padding: var(--s6) var(--s4); } .tiles > :last-child:nth-child(odd) { grid-column: 1 / -1; }
  .studio .chip { display: none; } .inspector .chip { display: inline-flex; }
  .studio { height: auto; } .studio-body { grid-template-columns: minmax(0, 1fr); } .canvas > .topology { height: 360px; } .tools { position: static; margin: var(--s3) var(--s4); } .canvas > .empty { position: static; } .inspector { border-left: 0; border-top: 1px solid var(--line); }
}
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { transition: none !important; animation: none !important; } }
@media (forced-colors: active) { .strip path, .strip rect, .mark { forced-color-adjust: none; } }
`
