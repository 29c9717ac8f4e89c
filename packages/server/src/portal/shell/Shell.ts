/** The shell around every page: navigation, who is signed in, the language. A page puts its content into it. */
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Ids"
import { Markup, markup } from "@catenet/platform/Markup"
import { brandMark, favicon } from "@catenet/platform/PageStyles"
import { tokenField } from "../../http/FormDeduplication.ts"
import * as Stylesheet from "../../http/Stylesheet.ts"
import type { Texts } from "../texts/English.ts"
import { type Icon, icon, sprite } from "./Icons.ts"
import { names } from "./Language.ts"
import * as Script from "./Script.ts"

/** Who looks at a page, and in which language. */
export interface Reader {
  readonly texts: Texts
  readonly signedIn: { readonly subject: Subject; readonly email: Email | null } | undefined
  readonly isOperator: boolean
  /** Notices that wait for the account. */
  readonly notices: number
  /** The token that the forms of the page carry, so that one which is sent twice counts once. */
  readonly once?: string | undefined
  /** The address of the page: where a switch of the language leads back to. Without it there is none. */
  readonly path: string | undefined
}

export interface Page {
  readonly title: string
  /** The entry of the navigation that the page belongs to. */
  readonly area?: Area
  /** Where the page stands: what leads to it, from the outside in. The page itself follows, as `here` or by its title. */
  readonly crumbs?: ReadonlyArray<readonly [href: string, text: string]>
  readonly here?: string
  readonly main: Markup
  /** For readers without a session: the whole width, a single panel in the middle, or a column of text. */
  readonly frame?: "wide" | "door"
  /** What stands at the end of the header of such a page. */
  readonly entrance?: Markup
  /** A page that fills the window; these stand in its bar in place of the search. */
  readonly tools?: Markup
  /** A page that holds its style and this script itself. */
  readonly inline?: { readonly text: string; readonly hash: string }
  /** A page that has nothing for the script to do. */
  readonly isStill?: boolean
  /** The address of a script of its own. */
  readonly script?: string
  /** A page whose script may ask for nothing. */
  readonly sendsNothing?: boolean
}

/** What the rail leads to, with its icon; on a phone all but the topologies, and a menu with these, are the bar at the foot. */
const areas = [
  ["home", "/portal/home", "home"],
  ["tunnels", "/portal/tunnels", "tunnels"],
  ["channels", "/portal/channels", "channels"],
  ["topologies", "/portal/topologies", "topologies"],
  ["fleet", "/portal/fleet", "activity"]
] as const satisfies ReadonlyArray<readonly [string, string, Icon]>

const settings = [["account", "/portal/account", "person"]] as const
const operators = [["operators", "/operators", "server"]] as const

type Area = (typeof areas)[number][0] | (typeof settings)[number][0] | (typeof operators)[number][0]

const entry = (texts: Texts, current: Page["area"], [area, href, sign]: readonly [Area, string, Icon]) =>
  markup`<a href="${href}" data-area="${area}"${area === current ? markup` aria-current="page"` : undefined}>${icon(sign)}${texts[area]}</a>`

const switches = ({ path, texts }: Reader) =>
  path === undefined
    ? undefined
    : markup`<form class="languages" method="post" action="/portal/language" aria-label="${texts.languages}">
    <input type="hidden" name="back" value="${path}">${names.map(([language, name]) =>
      language === texts.language
        ? markup`<span lang="${language}" aria-current="true">${name}</span>`
        : markup`<button class="plain" name="language" value="${language}" lang="${language}">${name}</button>`
    )}</form>`

const rail = (reader: Reader, area: Page["area"]) => {
  const { isOperator, signedIn, texts } = reader
  const who = signedIn?.email ?? signedIn?.subject ?? ""
  const own = isOperator ? [...settings, ...operators] : settings
  return markup`<header class="rail"><div class="rail-held">
    <a class="brand" href="/portal/home">${brandMark}Catenet</a>
    <nav class="nav" aria-label="${texts.navigation}">${areas.map((each) => entry(texts, area, each))}</nav>
    <p class="nav-title">${texts.settings}</p>
    <nav class="nav wide" aria-label="${texts.settings}">${own.map((each) => entry(texts, area, each))}</nav>
    <div class="rail-foot"><details class="who"><summary><span class="hidden">${texts.menu}</span><span class="avatar" aria-hidden="true">${who.slice(0, 2).toUpperCase()}</span><span class="lines"><b>${who}</b></span>${icon("menus")}<span class="narrow">${texts.more}</span></summary>
    <div class="who-menu"><p class="narrow soft small">${texts.signedInAs} ${who}</p>
      <nav class="nav narrow" aria-label="${texts.more}">${[areas[3], ...own].map((each) => entry(texts, area, each))}</nav>
      <form method="post" action="/portal/logout"><button class="quiet">${texts.signOut}</button></form>
      ${switches(reader)}</div></details></div>
  </div></header>`
}

const searching = (texts: Texts) =>
  markup`<form class="search bar-search" role="search" method="get" action="/portal/search?" aria-label="${texts.searchAll}">${icon("search")}<label for="find" class="hidden">${texts.searchAll}</label><input id="find" name="q" type="search" placeholder="${texts.searchAll}"><kbd aria-hidden="true">/</kbd><button class="hidden">${texts.find}</button></form>`

/** Where the page stands, the reference, and what waits. */
const bar = ({ notices, texts }: Reader, { crumbs = [], here, title, tools }: Page) =>
  markup`<div class="bar"><nav class="crumbs" aria-label="${texts.breadcrumb}">${crumbs.map(
    ([href, text]) => markup`<a href="${href}">${text}</a><span aria-hidden="true">/</span>`
  )}<b aria-current="page">${here ?? title}</b></nav>${
    tools === undefined
      ? searching(texts)
      : markup`<nav class="bar-search bar-end" aria-label="${here ?? title}">${tools}</nav>`
  }
    <nav class="bar-end" aria-label="${texts.helpAndNotices}"><a class="button quiet narrow" href="/portal/search">${icon("search")}<span class="hidden">${texts.searchAll}</span></a><a class="button quiet hide" href="/docs">${texts.docs}</a><a class="button quiet" href="/portal/notices">${icon("bell")}<span class="hidden">${
      notices === 0 ? texts.notices : texts.noticesWaiting(notices)
    }</span>${notices === 0 ? undefined : markup`<span class="count" aria-hidden="true">${String(notices)}</span>`}</a></nav></div>`

/** What keys do, for the script to open; without it there are none. */
const keyboard = (texts: Texts) =>
  markup`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">${texts.keyboard}</h2><dl class="pairs">${Object.entries(
    texts.keyboardKeys
  ).map(
    ([key, says]) => markup`<dt>${key.split(" ").map((each) => markup`<kbd>${each}</kbd> `)}</dt><dd>${says}</dd>`
  )}</dl>
    <form method="dialog"><button>${texts.close}</button></form></dialog>`

const legal = (texts: Texts) =>
  markup`<p class="row"><a href="/impressum">${texts.legalNotice}</a> <a href="/datenschutz">${texts.privacy}</a>
    <a href="/nutzungsbedingungen">${texts.terms}</a> <a href="/docs">${texts.apiDocs}</a></p>`

/** Each form of a page gets its token here, so that no page can forget it. Nothing but a page's own markup has the sign <. */
const withToken = ({ text }: Markup, once: string): Markup =>
  new Markup(
    text.replaceAll(
      /<form\b[^>]* method="post"[^>]*>/gu,
      (form) => `${form}<input type="hidden" name="${tokenField}" value="${once}">`
    )
  )

/** The whole document. Without a session there is nothing to navigate. */
export const render = (reader: Reader, page: Page): string => {
  const { area, inline, isStill = false, main, script, title, tools } = page
  const { once, signedIn, texts } = reader
  const own = once === undefined ? main : withToken(main, once)
  const { frame } = page
  const kind = tools !== undefined ? "studio-body" : signedIn !== undefined || frame === undefined ? "main" : frame
  const content = markup`<main id="content" class="${kind}" tabindex="-1">${own}</main>`
  const body =
    signedIn !== undefined
      ? markup`<div class="shell">${rail(reader, area)}<div${tools === undefined ? undefined : markup` class="studio"`}>${bar(reader, page)}${content}</div></div>${inline === undefined ? keyboard(texts) : undefined}`
      : frame === undefined
        ? markup`<div class="front"><header><a class="brand" href="/">${brandMark} Catenet</a></header>${content}<footer class="foot">${legal(texts)}${switches(reader)}</footer></div>`
        : markup`<div class="public"><header class="top"><a class="brand" href="/">${brandMark} Catenet</a>${page.entrance}</header>${content}<footer class="foot"><div>${legal(texts)}${switches(reader)}</div></footer></div>`
  return markup`<!doctype html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Catenet</title>
<link rel="icon" href="${favicon}">
${
  inline === undefined
    ? markup`<link rel="stylesheet" href="${Stylesheet.path}">${
        isStill ? undefined : markup`\n<script type="module" src="${Script.path}"></script>`
      }${script === undefined ? undefined : markup`\n<script type="module" src="${script}"></script>`}`
    : markup`<style>${new Markup(Stylesheet.text)}</style>`
}
</head>
<body>
<a class="skip" href="#content">${texts.skip}</a>${sprite(body)}
${body}
${inline === undefined ? undefined : markup`<script type="module">${new Markup(inline.text)}</script>`}</body>
</html>
`.text
}

/**
 * What a page may load, and where its forms may lead: to the portal, and from there, at sign-out, to the provider.
 * Pictures are those of the portal, and the empty icon; the script and what it asks for are the portal's.
 */
export const contentPolicy = (
  providers: ReadonlyArray<string>,
  { inline, sendsNothing = false }: Pick<Page, "inline" | "sendsNothing"> = {}
): string =>
  (inline === undefined
    ? "default-src 'none'; style-src 'self'; script-src 'self'; "
    : `default-src 'none'; style-src 'sha256-${Stylesheet.sha256}'; script-src 'sha256-${inline.hash}'; `) +
  `connect-src ${sendsNothing ? "'none'" : "'self'"}; ` +
  "img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; " +
  ["form-action 'self'", ...providers].join(" ")
