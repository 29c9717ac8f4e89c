/** Panels, lists, steps, tables and pictures. */
export const panelStyles = `
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: var(--radius-large); box-shadow: var(--shadow); min-width: 0; }
.panel > header { display: flex; align-items: center; justify-content: space-between; gap: var(--s3); padding: var(--s4) var(--s5); flex-wrap: wrap; }
.panel > header > div:first-child { display: grid; gap: 1px; }
.panel > header + * { border-top: 1px solid var(--line); }
.panel .pad, .panel.pad { padding: var(--s4) var(--s5); }
.panel > footer { border-top: 1px solid var(--line); padding: var(--s3) var(--s5); display: flex; gap: var(--s3); align-items: center; justify-content: space-between; flex-wrap: wrap; font-size: var(--t-small); color: var(--soft); }
.panel.danger-zone { border-color: var(--rot-mark); }
.trend b { font-weight: 600; }
.callout { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: var(--s3); align-items: center; padding: var(--s3) var(--s4); border-radius: var(--radius); border: 1px solid var(--line); background: var(--panel); }
.callout > .i { width: 18px; height: 18px; align-self: start; margin-top: 2px; }
.callout.info { background: var(--accent-pale); border-color: transparent; } .callout.info > .i { color: var(--accent); }
.callout.good { background: var(--gruen-pale); border-color: transparent; } .callout.good > .i { color: var(--gruen); }
.callout.warn { background: var(--gelb-pale); border-color: transparent; } .callout.warn > .i { color: var(--gelb); }
.callout.bad { background: var(--rot-pale); border-color: transparent; } .callout.bad > .i { color: var(--rot); }
.callout p { font-size: var(--t-body); }
.callout.info, .callout.good, .callout.warn, .callout.bad { color: var(--ink); }
.health { display: flex; align-items: center; gap: var(--s4); padding: var(--s5); }
.health .seal { width: 44px; height: 44px; border-radius: 50%; display: grid; place-items: center; flex: none; }
.health .seal .i { width: 22px; height: 22px; stroke-width: 2; }
.seal.good { background: var(--gruen-pale); color: var(--gruen); } .seal.bad { background: var(--rot-pale); color: var(--rot); } .seal.none { background: var(--sunken); color: var(--soft); } .seal.lead { background: var(--accent-pale); color: var(--accent); }
.health h2 { font-size: 1.125rem; }
.tally { display: flex; gap: var(--s5); margin-left: auto; flex-wrap: wrap; }
.tally div { display: grid; gap: 0; }
.tally dt { font-size: var(--t-small); } .tally dd { font-weight: 640; font-size: 1.125rem; }
.tally > div { display: flex; flex-direction: column-reverse; }
.items > li { display: grid; grid-template-columns: 18px minmax(0, 1fr) auto; gap: var(--s1) var(--s3); align-items: center; padding: var(--s3) var(--s5); border-top: 1px solid var(--line); }
.items > li:first-child { border-top: 0; }
.items > li > .i, .items > li > svg { align-self: start; justify-self: center; margin-top: 3px; }
.items > li > .mark { margin-top: 6px; }
.items.under > li > :nth-child(3) { grid-column: 2; justify-self: start; margin-top: var(--s1); }
.items b { font-weight: 600; overflow-wrap: anywhere; }
.items button, .items .button { min-height: 28px; padding: 0 var(--s2); font-size: var(--t-small); }
.items p { color: var(--soft); font-size: var(--t-small); }
.items time, .when { color: var(--soft); font-size: var(--t-small); white-space: nowrap; }
.code { position: relative; background: var(--code-ground); color: var(--code-ink); border-radius: var(--radius); padding: var(--s3) 92px var(--s3) var(--s4); font: 0.8125rem/1.65 var(--mono); overflow-wrap: anywhere; white-space: pre-wrap; border: 1px solid var(--line); }
.code .c { color: var(--code-soft); } .code .v { color: var(--code-accent); }
.code button { position: absolute; right: var(--s2); top: var(--s2); min-height: 30px; background: transparent; color: var(--code-ink); border-color: #4a5363; }
.code button:hover { border-color: var(--code-soft); color: #fff; }
.empty { display: grid; justify-items: center; gap: var(--s3); text-align: center; padding: var(--s12) var(--s6); }
.empty p { max-width: 52ch; color: var(--soft); }
.empty .seal { width: 52px; height: 52px; border-radius: 14px; display: grid; place-items: center; }
.empty .seal .i { width: 24px; height: 24px; }
.tabs { display: flex; gap: var(--s5); border-bottom: 1px solid var(--line); overflow-x: auto; scrollbar-width: none; }
.tabs a { display: inline-flex; align-items: center; gap: 6px; padding: 9px 1px; margin-bottom: -1px; color: var(--soft); text-decoration: none; font-weight: 540; border-bottom: 2px solid transparent; white-space: nowrap; }
.tabs a:hover { color: var(--ink); border-color: var(--line-strong); }
.tabs a[aria-current] { color: var(--ink); font-weight: 620; border-color: var(--accent); }
.more { border-top: 1px solid var(--line); }
.more summary { display: flex; align-items: center; gap: var(--s2); padding: var(--s4) var(--s5); cursor: pointer; list-style: none; font-weight: 570; }
.more summary::-webkit-details-marker { display: none; }
.more summary .i { color: var(--faint); transition: transform .15s; }
.pad .more { border: 0; } .pad .more summary { padding-left: 0; } .pad .more > div { padding: 0; }
.more[open] summary .i { transform: rotate(90deg); }
.more summary .value { margin-left: auto; color: var(--soft); font-weight: 450; font-size: var(--t-small); text-align: right; }
.more > div { padding: 0 var(--s5) var(--s5) calc(var(--s5) + 24px); }
.steps { counter-reset: step; }
.steps > li { counter-increment: step; display: grid; grid-template-columns: 28px minmax(0, 1fr) auto; gap: var(--s1) var(--s3); padding: var(--s4) var(--s5); border-top: 1px solid var(--line); align-items: center; }
.steps > li:first-child { border-top: 0; }
.steps > li::before { content: counter(step); width: 26px; height: 26px; border-radius: 50%; display: grid; place-items: center; border: 1.5px solid var(--control); font-size: var(--t-small); font-weight: 640; color: var(--soft); align-self: start; }
.steps > li.done::before { content: "✓"; background: var(--gruen-mark); border-color: var(--gruen-mark); color: var(--panel); }
.steps > li.now { background: var(--accent-pale); }
.steps > li.now::before { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.steps > li.done b { color: var(--soft); font-weight: 540; }
.steps p { color: var(--soft); font-size: var(--t-small); }
.steps .full { grid-column: 2 / -1; margin-top: var(--s2); }
.panel > h2 { padding: var(--s4) var(--s5) 0; } .panel.pad > h2 { padding: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, max(150px, 25% - 1px)), 1fr)); gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: var(--radius-large); overflow: hidden; }
.tiles > div { background: var(--panel); padding: var(--s4) var(--s5); display: flex; flex-direction: column; gap: 2px; }
.tiles dt { color: var(--soft); font-size: var(--t-small); font-weight: 520; }
.tiles dd { font-size: var(--t-figure); line-height: 1.25; font-weight: 640; letter-spacing: -0.02em; }
.tiles dd small { font-size: var(--t-body); font-weight: 500; color: var(--soft); letter-spacing: 0; }
.tiles dd.trend { font-size: var(--t-small); color: var(--soft); font-weight: 400; letter-spacing: 0; }
.pairs { display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr); gap: var(--s2) var(--s5); }
.pairs dt { color: var(--soft); } .pairs dd { min-width: 0; overflow-wrap: anywhere; }
.notice { padding: var(--s3) var(--s4); border-left: 4px solid var(--accent); } .notice.bad { border-left-color: var(--rot-mark); }
:is(.pad:not(dl), .flow, .notice, form:not(.row, .setting, .filters, .bulk, .inline-form, .search, .languages), details:not(.who, .key, .menu), .more > div) > :not([type="hidden"], .hidden, summary) ~ *, .flow > summary ~ * { margin-top: var(--s3); }
.row > *, td form > *, .languages > * { margin-top: 0; }
:is(form, details) > .row { margin-top: var(--s3); }
pre { font: 0.8125rem/1.65 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code-ground); color: var(--code-ink); border: 1px solid var(--line); border-radius: var(--radius); padding: var(--s3) var(--s4); margin: 0; user-select: all; }
pre + button { margin-top: var(--s2); }
summary { cursor: pointer; }
details:not(.who, .key, .more) > summary + * { margin-top: var(--s3); }
.hidden + .setting, .panel > .more:first-child { border-top: 0; }
ul.plain { display: grid; gap: var(--s3); }
.flash { display: flex; gap: var(--s2); align-items: center; padding: var(--s2) var(--s4); border-radius: var(--radius); background: var(--gruen-pale); color: var(--ink); }
.flash .i { color: var(--gruen); }
.filters { display: flex; gap: var(--s2); align-items: center; flex-wrap: wrap; padding: var(--s3) var(--s4); }
.filters .search input { width: 200px; }
.filters .end { margin-left: auto; display: flex; gap: var(--s2); align-items: center; }
.bulk { display: flex; gap: var(--s2); align-items: center; padding: var(--s2) var(--s4); background: var(--accent-pale); border-top: 1px solid var(--line); flex-wrap: wrap; }
table { width: 100%; border-collapse: collapse; }
table caption { text-align: left; }
table th { text-align: left; font-size: var(--t-caption); font-weight: 560; color: var(--soft); padding: var(--s2) var(--s3); white-space: nowrap; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); background: var(--sunken); }
table th a { color: inherit; text-decoration: none; display: inline-flex; align-items: center; gap: 4px; }
table th[aria-sort] a { color: var(--ink); font-weight: 650; }
table th .i { width: 12px; height: 12px; }
table td { padding: 9px var(--s3); border-bottom: 1px solid var(--line); vertical-align: middle; }
.panel > table:first-child th { border-top: 0; }
.panel > table:first-child th:first-child { border-top-left-radius: var(--radius-large); }
.panel > table:first-child th:last-child { border-top-right-radius: var(--radius-large); }
table tbody tr:hover td { background: var(--sunken); }
table th:first-child, table td:first-child { padding-left: var(--s5); }
table th:last-child, table td:last-child { padding-right: var(--s5); }
table .two { display: grid; line-height: 1.4; min-width: 0; justify-items: start; }
.tunnels .main-cell .two { justify-items: stretch; }
table .two small { color: var(--soft); font-size: var(--t-caption); }
table .name { display: inline-block; max-width: 100%; font-weight: 600; color: var(--ink); text-decoration: none; overflow-wrap: anywhere; }
table .name:hover { text-decoration: underline; color: var(--ink); }
.name.mono { font-size: 0.8125rem; }
.tunnels td, .tunnels tbody th { padding: 7px 9px; white-space: nowrap; }
.tunnels :is(td, th):first-child { padding-left: var(--s5); } .tunnels :is(td, th):last-child { padding-right: var(--s5); }
.tunnels .tick { width: 1%; } .bulk .soft { margin-left: auto; }
.tunnels .main-cell { width: 100%; max-width: 0; }
.tunnels .main-cell .name, .tunnels .main-cell small { overflow: hidden; text-overflow: ellipsis; }
.tunnels .main-cell .row { flex-wrap: nowrap; min-width: 0; }
table .act { text-align: right; white-space: nowrap; width: 1%; }
.scroll { position: relative; overflow-x: auto; }

tbody th, tfoot th { font-size: inherit; font-weight: 400; color: inherit; background: none; border-top: 0; white-space: normal; overflow-wrap: anywhere; padding-top: 9px; padding-bottom: 9px; min-width: 8em; }
tr:last-child > * { border-bottom: 0; } thead tr > * { border-bottom: 1px solid var(--line); } td time, th time { white-space: nowrap; }
thead td { background: var(--sunken); border-top: 1px solid var(--line); }
tbody:first-child > tr:first-child > * { border-top: 0; }
.list { overflow: hidden; } .list > h2, .list > .hint, .list > p { padding: var(--s4) var(--s5) var(--s3); } .list > h2 + .hint { padding-top: 0; }
.list > table:first-child thead > tr > * { border-top: 0; }
td.figure, th.figure, .num { text-align: right; white-space: nowrap; }
td.actions { text-align: right; white-space: nowrap; width: 1%; } td.actions form { display: inline-block; } td.actions form + form { margin-left: var(--s1); }
td button, td .button { min-height: 28px; padding: 0 var(--s2); font-size: var(--t-small); }
td.mono { font-size: 0.8125rem; min-width: 7em; } td .sub { min-width: 9em; }
.pad > table :is(th, td):first-child { padding-left: 0; } .pad > table :is(th, td):last-child { padding-right: 0; } .pad > table thead > tr > * { background: none; border-top: 0; }
td .field label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
td .row { flex-wrap: nowrap; } td .row .field { flex: 1 1 90px; min-width: 90px; }
tfoot > tr > * { border-top: 2px solid var(--line); font-weight: 620; }
.matrix :is(td, th) { padding: 6px var(--s2); }
.big { font-size: var(--t-figure); font-weight: 640; } .big small { font-size: var(--t-body); font-weight: 500; color: var(--soft); }
.cols-even { display: grid; gap: var(--s5); grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: start; }
.members { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 280px), 1fr)); gap: var(--s4); }
.member { padding: var(--s4); display: grid; gap: var(--s3); align-content: start; }
.panel.member > header { padding: 0; flex-wrap: nowrap; } .panel.member > header + * { border-top: 0; }
.member h3 { flex: 1; min-width: 0; overflow-wrap: anywhere; } .member button { min-height: 28px; padding: 0 var(--s2); font-size: var(--t-small); }
.member .pairs { font-size: var(--t-small); gap: 5px var(--s3); grid-template-columns: 74px minmax(0, 1fr); display: grid; }
.strip { width: 132px; height: 20px; }
.strip path, .strip rect { fill: var(--gruen-mark); }
.strip .up { fill: var(--gruen-mark); } .strip .p { fill: var(--gelb-mark); } .strip .d { fill: var(--rot-mark); } .strip .n { fill: var(--line-strong); }
.strip.wide { width: 100%; height: 34px; }
.chart { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--s1) var(--s3); }
.chart .y { display: flex; flex-direction: column; justify-content: space-between; text-align: right; font-size: var(--t-caption); color: var(--soft); margin: -8px 0; }
.chart .x { grid-column: 2; display: flex; justify-content: space-between; font-size: var(--t-caption); color: var(--soft); }
.chart svg.plot { width: 100%; height: 180px; }
.chart.low svg.plot { height: 120px; }
.plot .g { stroke: var(--grid); stroke-width: 1; vector-effect: non-scaling-stroke; }
.plot .a { fill: var(--chart-fill); }
.plot .l { fill: none; stroke: var(--chart); stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.plot .l2 { fill: none; stroke: var(--chart-second); stroke-width: 1.5; stroke-dasharray: 4 4; vector-effect: non-scaling-stroke; }
.legend { display: flex; gap: var(--s4); font-size: var(--t-small); color: var(--soft); flex-wrap: wrap; }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
.legend svg { width: 14px; height: 10px; }
.asTable { font-size: var(--t-small); color: var(--soft); }
.asTable summary { cursor: pointer; width: max-content; }
.way { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); padding: var(--s5); gap: 0; }
.way > li { position: relative; display: grid; justify-items: center; gap: 4px; text-align: center; align-content: start; }
.way .seal { width: 46px; height: 46px; border-radius: 13px; display: grid; place-items: center; background: var(--sunken); color: var(--soft); border: 1px solid var(--line); position: relative; z-index: 1; }
.way .seal .i { width: 21px; height: 21px; }
.way .seal.reads { background: var(--gruen-pale); color: var(--gruen); border-color: transparent; }
.way .seal.warnreads { background: var(--gelb-pale); color: var(--gelb); border-color: transparent; }
.way > li::after { content: ""; position: absolute; top: 22px; left: calc(50% + 30px); right: calc(-50% + 30px); border-top: 2px solid var(--gruen-mark); }
.way > li.plain::after { border-top-style: dashed; border-color: var(--control); }
.way > li.cut::after { border-top-style: dashed; border-color: var(--rot-mark); } .way > li.cut .hop { color: var(--rot); font-weight: 600; }
.way > li:last-child::after { display: none; }
.way .hop { position: absolute; top: 0; left: calc(50% + 30px); right: calc(-50% + 30px); font-size: var(--t-caption); color: var(--soft); line-height: 16px; }
.way p { font-size: var(--t-small); color: var(--soft); max-width: 24ch; }
.way .chip { margin-top: var(--s2); align-self: end; }
.way .chip .i { width: 13px; height: 13px; }
.bars .count, .legend .count { fill: var(--chart); } .bars .more, .legend .more { fill: var(--chart-second); }
.way .seal.bad { border-color: transparent; }
.strip rect { rx: 3px; }
.topology { display: block; width: 100%; height: auto; background: var(--ground); border-radius: var(--radius); touch-action: none; }
.topology line { stroke: var(--faint); stroke-width: 2; } .topology .suggested { stroke: var(--accent); stroke-dasharray: 6 5; }
.topology rect { fill: var(--panel); stroke: var(--line-strong); stroke-width: 1.2; } .topology circle { fill: var(--accent-pale); stroke: var(--accent); stroke-width: 2; }
.topology .hub { fill: var(--accent-pale); stroke: none; } .topology .outside rect { stroke-dasharray: 4 3; } .topology .chosen > :first-child { stroke: var(--accent); stroke-width: 2.6; }
.topology text { fill: var(--ink); font: 600 13px system-ui, sans-serif; } .topology .under { fill: var(--soft); font: 10.5px system-ui, sans-serif; } .topology .node { cursor: pointer; outline-offset: 2px; }
.studio { display: grid; grid-template-columns: minmax(0, 1fr); grid-template-rows: 52px minmax(0, 1fr); height: 100vh; height: 100dvh; min-height: 560px; }
.studio > .bar { padding: 0 var(--s5); }
.studio-body { display: grid; grid-template-columns: minmax(0, 1fr) 340px; min-height: 0; }
.canvas { position: relative; overflow: hidden; background: var(--ground) radial-gradient(var(--line-strong) 1px, transparent 1px) 0 0 / 22px 22px; }
.canvas > .topology { width: 100%; height: 100%; background: none; }
.canvas > [data-notice] { position: absolute; z-index: 1; top: var(--s4); left: var(--s4); right: var(--s4); }
.tools { position: absolute; left: var(--s4); bottom: var(--s4); max-width: calc(100% - 2 * var(--s4)); display: flex; flex-wrap: wrap; gap: 2px; align-items: center; padding: 4px; background: var(--raised); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow-float); }
.tools:empty { display: none; } .tools button { border-color: transparent; box-shadow: none; background: none; } .tools button:hover { background: var(--sunken); }
.tools [aria-pressed="true"] { background: var(--accent-pale); color: var(--accent); } .tools [role="status"]:not(:empty) { padding: 0 var(--s2); color: var(--soft); font-size: var(--t-small); }
.inspector { background: var(--panel); border-left: 1px solid var(--line); overflow-y: auto; }
.inspector section, .inspector > .hint { padding: var(--s4); border-top: 1px solid var(--line); } .inspector section > * + * { margin-top: var(--s3); }
.inspector .more summary { padding: var(--s3) var(--s4); overflow-wrap: anywhere; } .inspector .more > div { padding: 0 var(--s4) var(--s4); } .inspector h2 { font-size: 0.9375rem; }
.inspector .divider { padding: var(--s3) var(--s4); background: var(--sunken); border-top: 1px solid var(--line); } .inspector .items > li { grid-template-columns: minmax(0, 1fr) auto; padding: var(--s2) 0; }
.ends { display: grid; gap: var(--s3); } .inspector .value { overflow-wrap: anywhere; }
.canvas > .empty { position: absolute; inset: 0; place-content: center; padding: var(--s4); }
.empty .card { background: var(--panel); border: 1px solid var(--line); border-radius: var(--radius-large); box-shadow: var(--shadow-float); padding: var(--s8); display: grid; gap: var(--s4); justify-items: center; max-width: 560px; }
.empty form { text-align: left; }
`
