/** `/portal/fleet?tab=events`: what was done and what happened in an account, newest first, with search, filter and export. */
import { quoted } from "@catenet/domain/tunnels/Usage"
import { timeText } from "@catenet/domain/values/Format"
import { type Markup, markup } from "@catenet/platform/Markup"
import { Option, Record } from "effect"
import { type AccountEvent, type Kind, kinds, type Query } from "../../identity/AccountEvents.ts"
import { activityTabs } from "../shell/Field.ts"
import { icon, type Mark, mark } from "../shell/Icons.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"

/** Entries of one page of the list, and of a file. */
const perPage = 50
const perFile = 2_000

/** Longer than a host name is nothing that could be found. */
const longestSearch = 253

export const isAsked = (url: string): boolean => new URL(url, "http://localhost").searchParams.get("tab") === "events"

/** `isFile`: as many as an export has. */
export const readQuery = (url: string, isFile: boolean): Query => {
  const query = new URL(url, "http://localhost").searchParams
  const before = Number(query.get("before") ?? "")
  return {
    kind: kinds.find((kind) => kind === query.get("kind")),
    q: (query.get("q") ?? "").replaceAll("\0", "").trim().slice(0, longestSearch),
    before: Number.isSafeInteger(before) && before > 0 ? before : undefined,
    limit: isFile ? perFile : perPage
  }
}

const home = "/portal/fleet"

const urlOf = (
  { kind, q }: Query,
  base: string,
  change: { readonly kind?: Kind | "all"; readonly before?: number } = {}
) => {
  const wanted = change.kind ?? kind ?? "all"
  const parts = new URLSearchParams({
    ...(base === home ? { tab: "events" } : {}),
    ...(q === "" ? {} : { q }),
    ...(wanted === "all" ? {} : { kind: wanted }),
    ...(change.before === undefined ? {} : { before: String(change.before) })
  }).toString()
  return parts === "" ? base : `${base}?${parts}`
}

const marks: Readonly<Record<string, Mark>> = {
  tunnel_up: "up",
  tunnel_down: "down",
  host_gruen: "up",
  certificate_refused: "part"
}

/** What happened, in words; what has none is named as the audit log does. */
const words = (texts: Texts, action: string): Markup =>
  Option.match(Record.get<string, string>(texts.eventActions, action), {
    onNone: () => markup`<code class="word">${action}</code>`,
    onSome: (said) => markup`<b>${said}</b>`
  })

/** The tunnel with its name, or what an entry of the audit log is about. */
const where = ({ about, action, kind, name }: AccountEvent): Markup | string =>
  kind !== "change"
    ? markup`<a href="/portal/tunnels/${about}">${name}</a>`
    : /^[0-9a-f]{32}$/u.test(about) && action.startsWith("tunnel_") && action !== "tunnel_deleted"
      ? markup`<a href="/portal/tunnels/${about}">${about.slice(0, 8)}…</a>`
      : about.length > 24
        ? `${about.slice(0, 8)}…${about.slice(-6)}`
        : about

/** Keys in short; what only programs read is in the file alone. */
const shortDetail = (detail: string) =>
  detail.startsWith("{") ? "" : detail.replaceAll(/[0-9a-f]{32,}/gu, (key) => `${key.slice(0, 8)}…${key.slice(-6)}`)

const row = (texts: Texts, event: AccountEvent) => {
  const { action, at, kind } = event
  const detail = shortDetail(event.detail)
  return markup`<tr><th scope="row"><span class="two"><span>${words(texts, action)}</span>${
    detail === "" ? undefined : markup`<small class="mono">${detail}</small>`
  }</span></th><td data-label="${texts.eventKind}"><span class="row nowrap">${mark(Option.getOrElse(Record.get(marks, action), () => "idle"))}${texts.eventKinds[kind]}</span></td>
    <td class="mono" data-label="${texts.eventAbout}">${where(event)}</td><td data-label="${texts.auditAt}">${timestamp(at)}</td></tr>`
}

/** Events of one second stay together, as the next page begins below a second. */
const shownOf = (found: ReadonlyArray<AccountEvent>) => {
  const last = found.at(-1)
  if (found.length < perPage || last === undefined) return { shown: found, before: undefined }
  const earlier = found.filter(({ at }) => at > last.at)
  return earlier.length === 0 ? { shown: found, before: last.at } : { shown: earlier, before: last.at + 1 }
}

const filters = (texts: Texts, query: Query) =>
  markup`<form class="filters" role="search" method="get" action="${home}?" aria-label="${texts.events}">
    <input type="hidden" name="tab" value="events"><div class="search">${icon("search")}<label for="q" class="hidden">${texts.findEvent}</label><input id="q" name="q" type="search" value="${query.q}" placeholder="${texts.findEvent}"></div>${
      query.kind === undefined ? undefined : markup`<input type="hidden" name="kind" value="${query.kind}">`
    }<button class="hidden">${texts.find}</button>
    <nav class="segments" aria-label="${texts.eventKind}">${(["all", ...kinds] as const).map(
      (kind) =>
        markup`<a href="${urlOf(query, home, { kind })}"${kind === (query.kind ?? "all") ? markup` aria-current="true"` : undefined}>${kind === "all" ? texts.filters.all : texts.eventKinds[kind]}</a>`
    )}</nav></form>`

export const page = (texts: Texts, query: Query, found: ReadonlyArray<AccountEvent>): Page => {
  const { before, shown } = shownOf(found)
  const isAll = query.q === "" && query.kind === undefined && query.before === undefined
  return {
    title: texts.events,
    area: "fleet",
    crumbs: [[home, texts.fleet]],
    main: markup`<div class="head"><div><h1>${texts.events}</h1><p class="head-lead">${texts.eventsText}</p></div><a class="button" href="${urlOf(query, `${home}/events.csv`)}">${icon("download")}${texts.exportCsv}</a></div>
      ${activityTabs(texts, `${home}?tab=events`)}
      <section class="panel list" aria-label="${texts.events}">${filters(texts, query)}${
        shown.length === 0
          ? markup`<p class="pad soft">${isAll ? texts.eventsNone : texts.noEventFits}</p>`
          : markup`<table><caption class="hidden">${texts.events}</caption><thead><tr><th scope="col">${texts.eventWhat}</th><th scope="col">${texts.eventKind}</th><th scope="col">${texts.eventAbout}</th><th scope="col">${texts.auditAt}</th></tr></thead>
              <tbody>${shown.map((event) => row(texts, event))}</tbody></table>`
      }<footer><span>${texts.eventsKept}</span>${
        before === undefined
          ? undefined
          : markup`<a rel="next" href="${urlOf(query, home, { before })}">${texts.eventsOlder}</a>`
      }</footer></section>`
  }
}

/** The same as a table for programs, in the words of the audit log. */
export const csv = (found: ReadonlyArray<AccountEvent>): string =>
  `${[
    "at,kind,action,about,name,detail",
    ...found.map(({ about, action, at, detail, kind, name }) =>
      [timeText(at), kind, action, quoted(about), quoted(name), quoted(detail)].join(",")
    )
  ].join("\r\n")}\r\n`
