/** Buttons, fields, switches, and the words of state and mode. */
export const controlStyles = `
button, .button { display: inline-flex; align-items: center; justify-content: center; gap: 6px; min-height: var(--control-height); padding: 0 var(--s3); border: 1px solid var(--line-strong); border-radius: var(--radius-small); background: var(--panel); color: var(--ink); font: 560 var(--t-body)/1 var(--text); text-decoration: none; cursor: pointer; white-space: nowrap; box-shadow: var(--shadow); }
button:hover, .button:hover { border-color: var(--control); color: var(--ink); }
button:active, .button:active { background: var(--sunken); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.primary:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
.quiet { border-color: transparent; background: none; box-shadow: none; color: var(--soft); }
.quiet:hover { background: var(--sunken); color: var(--ink); }
.danger { color: var(--rot); border-color: var(--rot); background: var(--panel); }
.icon-only { padding: 0; width: var(--control-height); }
.tiny { min-height: 26px; padding: 0 var(--s2); font-size: var(--t-small); }
.wide-button { width: 100%; }
button[disabled] { opacity: 1; color: var(--faint); border-color: var(--line); background: var(--sunken); cursor: not-allowed; box-shadow: none; }
input, select, textarea { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--control); border-radius: var(--radius-small); min-height: var(--control-height); padding: 6px 10px; max-width: 100%; }
input[type="datetime-local"]:focus-within { outline: 2px solid var(--focus); outline-offset: 2px; }
input[type="checkbox"], input[type="radio"] { min-height: 0; width: 16px; height: 16px; margin: 0; accent-color: var(--accent); flex: none; }
.bar input, .filters input, .filters select { border-color: var(--line-strong); }
::placeholder { color: var(--faint); opacity: 1; }
.field { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s1); }
.field label, .field > .label { font-weight: 570; }
.field input, .field select, .field textarea { width: 100%; max-width: 420px; }
.hint { font-size: var(--t-small); color: var(--soft); }
.field.wrong input { border-color: var(--rot); outline: 1px solid var(--rot); }
.error { display: flex; gap: 6px; font-size: var(--t-small); color: var(--rot); font-weight: 550; }
.inline { display: inline; }
.inline-form { display: flex; gap: var(--s2); align-items: end; flex-wrap: wrap; }
.panel > footer .inline-form { flex: 1; }
.inline-form .field { flex: 1 1 220px; max-width: 360px; } .inline-form .field:has([type="number"]) { flex: 0 1 170px; }
.setting { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--s1) var(--s6); align-items: center; padding: var(--s4) var(--s5); border-top: 1px solid var(--line); }
.setting:first-child { border-top: 0; }
.setting > div:first-child { max-width: 66ch; }
.setting p { color: var(--soft); font-size: var(--t-small); }
.setting > .full { grid-column: 1 / -1; }
input.switch { appearance: none; -webkit-appearance: none; position: relative; width: 36px; height: 20px; border-radius: 10px; border: 1px solid var(--control); background: var(--sunken); cursor: pointer; }
input.switch::after { content: ""; position: absolute; left: 2px; top: 2px; width: 14px; height: 14px; border-radius: 50%; background: var(--control); }
.switch:checked { background: var(--accent); border-color: var(--accent); }
.switch:checked::after { left: 18px; background: var(--on-accent); }
.segments { display: inline-flex; border: 1px solid var(--line-strong); border-radius: var(--radius-small); overflow: hidden; background: var(--panel); }
.segments a { display: inline-flex; align-items: center; gap: 6px; padding: 0 var(--s3); min-height: 32px; color: var(--soft); text-decoration: none; font-size: var(--t-small); font-weight: 550; border-left: 1px solid var(--line); white-space: nowrap; }
.segments a:first-child { border-left: 0; }
.segments a[aria-current] { background: var(--accent-pale); color: var(--accent); font-weight: 620; }
.segments a:hover { color: var(--ink); }
.plain { min-height: 26px; padding: 0; border: 0; background: none; box-shadow: none; color: var(--accent); font-weight: 400; }
input[type="file"] { padding: 4px 10px; }
input[aria-invalid], textarea[aria-invalid], select[aria-invalid] { border-color: var(--rot); outline: 1px solid var(--rot); }
textarea { min-height: 88px; font: 0.8125rem/1.5 var(--mono); }
form.row { align-items: end; } .row > .field { flex: 1 1 180px; max-width: 360px; } .row:has(.error) { align-items: start; }
.row:has(.error) > button { margin-top: 24px; }
fieldset:not([disabled]) { border: 1px solid var(--line); border-radius: var(--radius); padding: var(--s2) var(--s3); display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); }
legend { padding: 0 var(--s1); font-weight: 570; }
label:has(> [type="checkbox"]) { display: flex; gap: var(--s2); align-items: baseline; } label > [type="checkbox"] { position: relative; top: 2px; }
.setting .error { grid-column: 1 / -1; }
.state { font-weight: 560; } .state .mark { display: inline-block; margin-right: 7px; }
.state svg, .mark { width: 10px; height: 10px; }
.mode { display: inline-flex; align-items: center; gap: 5px; padding: 1px 8px 1px 6px; border-radius: 20px; font-size: var(--t-caption); line-height: 20px; font-weight: 590; white-space: nowrap; background: var(--sunken); color: var(--soft); }
.mode .i { width: 13px; height: 13px; stroke-width: 1.8; }
.mode.gruen { background: var(--gruen-pale); color: var(--gruen); }
.mode.gelb { background: var(--gelb-pale); color: var(--gelb); }
.mode.rot { background: var(--rot-pale); color: var(--rot); }
.mode i { font-style: normal; font-weight: 500; }
.chip { display: inline-flex; align-items: center; gap: 5px; padding: 0 8px; border-radius: 20px; border: 1px solid var(--line-strong); font-size: var(--t-caption); line-height: 20px; font-weight: 550; color: var(--soft); white-space: nowrap; background: var(--panel); }
.chip.on { background: var(--accent-pale); color: var(--accent); border-color: transparent; }
.chip.warn { background: var(--gelb-pale); color: var(--gelb); border-color: transparent; }
.chip.bad { background: var(--rot-pale); color: var(--rot); border-color: transparent; }
.chip.good { background: var(--gruen-pale); color: var(--gruen); border-color: transparent; }
.copy { display: inline-grid; place-items: center; width: 26px; height: 26px; border: 0; border-radius: var(--radius-small); background: none; box-shadow: none; color: var(--faint); cursor: pointer; padding: 0; }
.copy:hover { background: var(--sunken); color: var(--ink); }
.copy .i { width: 14px; height: 14px; }
.up, [data-state="up"] { color: var(--gruen); } [data-state="up"] .mark { fill: var(--gruen-mark); }
.part { color: var(--gelb); }
.down, [data-state="down"] { color: var(--rot); } [data-state="down"] .mark { fill: var(--rot-mark); }
.idle, [data-state="idle"], [data-state="connected"], [data-state="unknown"] { color: var(--soft); }
.mode i { font-style: normal; font-weight: 500; } .mode i::before { content: "· "; }
.chip.gelb { background: var(--gelb-pale); color: var(--gelb); border-color: transparent; } .chip.gruen { background: var(--gruen-pale); color: var(--gruen); border-color: transparent; }
.key summary { cursor: pointer; }
`
