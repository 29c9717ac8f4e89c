/** Icons and marks of state. Each stands once in a page, as a symbol, and is drawn wherever the page uses it. */
import { Markup, markup } from "@catenet/platform/Markup"

const icons = {
  home: '<path d="M2.5 7.5 8 3l5.5 4.5V13a.5.5 0 0 1-.5.5h-3v-4H6v4H3a.5.5 0 0 1-.5-.5z"/>',
  tunnels: '<path d="M2 13.5V8a6 6 0 0 1 12 0v5.5M5.5 13.5V8.5a2.5 2.5 0 0 1 5 0v5"/>',
  channels: '<circle cx="4" cy="8" r="2.2"/><circle cx="12" cy="8" r="2.2"/><path d="M6.2 8h3.6M4 3.2h8M4 12.8h8"/>',
  topologies:
    '<circle cx="8" cy="3.4" r="1.9"/><circle cx="3.2" cy="12" r="1.9"/><circle cx="12.8" cy="12" r="1.9"/><path d="m7 5-2.8 5.2M9 5l2.8 5.2M5.2 12h5.6"/>',
  activity: '<path d="M1.5 8.5h3l2-5 3 9.5 2-4.5h3"/>',
  person: '<circle cx="8" cy="5.3" r="2.6"/><path d="M3 13.6c.4-2.9 2.4-4.3 5-4.3s4.6 1.4 5 4.3"/>',
  people:
    '<circle cx="6" cy="5.4" r="2.4"/><path d="M1.8 13.2c.3-2.6 2-4 4.2-4s3.9 1.4 4.2 4M10.5 3.2a2.4 2.4 0 0 1 0 4.4M12 9.6c1.3.5 2.1 1.7 2.3 3.4"/>',
  menu: '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>',
  search: '<circle cx="7" cy="7" r="4.3"/><path d="m10.3 10.3 3.5 3.5"/>',
  bell: '<path d="M4 11.2V7a4 4 0 0 1 8 0v4.2l1.2 1.3H2.8zM6.7 14.3h2.6"/>',
  plus: '<path d="M8 3v10M3 8h10"/>',
  check: '<path d="m3 8.5 3.3 3.3L13 4.8"/>',
  eye: '<path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="2"/>',
  link: '<path d="M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7"/>',
  right: '<path d="m6 4 4 4-4 4"/>',
  down: '<path d="m4 6.2 4 4 4-4"/>',
  out: '<path d="M9.5 2.5h4v4M13.5 2.5 8 8M6.5 3.5H3.5a1 1 0 0 0-1 1v8a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1v-3"/>',
  download: '<path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10"/>',
  server:
    '<rect x="2.5" y="2.5" width="11" height="4.5" rx="1.2"/><rect x="2.5" y="9" width="11" height="4.5" rx="1.2"/><path d="M5 4.75h.01M5 11.25h.01"/>',
  warning: '<path d="M8 2.3 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1"/>',
  globe:
    '<circle cx="8" cy="8" r="6"/><path d="M2 8h12M8 2c2 1.8 2.6 4 2.6 6S10 12.2 8 14c-2-1.8-2.6-4-2.6-6S6 3.8 8 2z"/>',
  cloud: '<path d="M4.5 12.5a3 3 0 0 1-.2-6 4 4 0 0 1 7.6-.6 3.3 3.3 0 0 1-.4 6.6z"/>',
  terminal: '<rect x="1.8" y="2.8" width="12.4" height="10.4" rx="1.5"/><path d="m4.5 6 2 2-2 2M8.5 10h3"/>',
  clock: '<circle cx="8" cy="8" r="6"/><path d="M8 4.6V8l2.3 1.5"/>',
  info: '<circle cx="8" cy="8" r="6"/><path d="M8 7.4v3.4M8 5.2v.1"/>',
  shield: '<path d="M8 1.8 13 3.6v4c0 3.2-2 5.4-5 6.6-3-1.2-5-3.4-5-6.6v-4z"/><path d="m5.8 7.8 1.6 1.6 2.9-3"/>',
  menus: '<path d="m5 6 3-3 3 3M5 10l3 3 3-3"/>',
  copy: '<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5"/>',
  gruen: '<rect x="3" y="7" width="10" height="6.5" rx="1.5"/><path d="M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2"/>',
  gelb: '<rect x="3" y="7" width="10" height="6.5" rx="1.5"/><path d="M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2M8 9.2v2"/>',
  rot: '<rect x="3" y="7" width="10" height="6.5" rx="1.5"/><path d="M5.2 7V5a2.8 2.8 0 0 1 5.4-1"/>'
} as const

/** Shapes of states: they differ without their colours. */
const marks = {
  up: '<circle cx="5" cy="5" r="4.5"/>',
  down: '<path d="M2.2.5 5 3.3 7.8.5 9.5 2.2 6.7 5l2.8 2.8-1.7 1.7L5 6.7 2.2 9.5.5 7.8 3.3 5 .5 2.2z"/>',
  part: '<path d="M5 .6 9.8 9.4H.2z"/>',
  idle: '<circle cx="5" cy="5" r="3.8"/>',
  connected: '<circle cx="5" cy="5" r="3.8"/>',
  unknown: '<path d="M1.5 5h7"/>'
} as const

export type Icon = keyof typeof icons
export type Mark = keyof typeof marks

export const icon = (name: Icon): Markup => markup`<svg class="i" aria-hidden="true"><use href="#i-${name}"/></svg>`

export const mark = (name: Mark): Markup =>
  markup`<svg class="mark ${name}" aria-hidden="true"><use href="#m-${name}"/></svg>`

const symbol = (id: string, size: number, drawn: string) =>
  `<symbol id="${id}" viewBox="0 0 ${size} ${size}">${drawn}</symbol>`

/** What the page draws; with one mark all of them, since a state may change while the page is open. */
export const sprite = ({ text }: Markup): Markup => {
  const used = Object.entries(icons).filter(([name]) => text.includes(`"#i-${name}"`))
  const shapes = text.includes('"#m-') ? Object.entries(marks) : []
  return used.length + shapes.length === 0
    ? new Markup("")
    : new Markup(
        `<svg class="sprite" aria-hidden="true">${[
          ...used.map(([name, drawn]) => symbol(`i-${name}`, 16, drawn)),
          ...shapes.map(([name, drawn]) => symbol(`m-${name}`, 10, drawn))
        ].join("")}</svg>`
      )
}
