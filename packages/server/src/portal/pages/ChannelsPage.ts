/** `/portal/channels`: the channels of an account and those it is invited to; `?new=` opens the form for one more, or for a room. */
import type { ChannelId, RoomPair } from "@catenet/domain/channels/Channel"
import type { Claim } from "@catenet/domain/channels/Claim"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { ChannelSummary } from "../../channels/ChannelStore.ts"
import { area, callout, field, more, section, type Sent, valuesOf } from "../shell/Field.ts"
import { icon } from "../shell/Icons.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

/** Entries of one page of the list. */
const perPage = 50

type Role = "all" | "mine" | "joined"

export interface Query {
  readonly q: string
  readonly role: Role
  readonly page: number
  /** The form that is asked for instead of the list. */
  readonly form: "register" | "room" | undefined
  readonly isClaimed: boolean
}

export const readQuery = (url: string, sent: Sent | undefined): Query => {
  const query = new URL(url, "http://localhost").searchParams
  const role = query.get("role")
  const wanted = query.get("new")
  const page = Number(query.get("page") ?? "1")
  const refused = sent?.form === "room" ? "room" : sent === undefined ? undefined : "register"
  return {
    q: (query.get("q") ?? "").replaceAll("\0", "").trim().slice(0, 64),
    role: role === "mine" || role === "joined" ? role : "all",
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    form: refused ?? (wanted === "channel" ? "register" : wanted === "room" ? "room" : undefined),
    isClaimed: query.get("notice") === "claimed"
  }
}

export interface Facts {
  readonly claims: ReadonlyArray<Claim>
  readonly own: ReadonlyArray<ChannelSummary>
  readonly rooms: ReadonlyArray<RoomPair>
  readonly email: string | null
  readonly query: Query
  readonly now: number
}

/** An id that stands for a channel without a label, or below its label. */
export const shortId = (channel: string): string => `${channel.slice(0, 8)}…${channel.slice(-6)}`
export const nameOf = ({ channel, label }: Pick<ChannelSummary, "channel" | "label">): string =>
  label ?? shortId(channel)

const soon = 7 * 86_400

/** Until when a grant is good; one that ends within a week stands out. */
export const grantEnd = (texts: Texts, end: number | null, now: number): Markup =>
  end === null
    ? markup`<span class="soft">–</span>`
    : end <= now
      ? markup`<span class="chip bad">${texts.grantEnded}</span>`
      : end - now < soon
        ? markup`<span class="chip warn">${texts.inDays(end - now)}</span>`
        : markup`${texts.inDays(end - now)}`

const invitations = (texts: Texts, { claims, email }: Facts) => {
  const open = claims.filter(({ state }) => state === "Pending")
  if (email === null) return callout("info", "info", markup`<p>${texts.channelsNoEmail}</p>`)
  return open.map(({ channel }) =>
    callout(
      "info",
      "link",
      markup`<p><b>${texts.invitedTo} <span class="mono">${shortId(channel)}</span></b> ${texts.claimStates.Pending}</p>`,
      markup`<a class="button primary" href="/portal/channels/${channel}/claim">${texts.claimAction}</a>`
    )
  )
}

interface Entry {
  readonly channel: ChannelId
  readonly name: string
  readonly row: Markup
}

const ownRow = (texts: Texts, summary: ChannelSummary, now: number): Entry => {
  const { channel, grantsEnd, label, members } = summary
  return {
    channel,
    name: label ?? "",
    row: markup`<tr><th scope="row"><span class="two"><a class="name${label === null ? markup` mono` : undefined}" href="/portal/channels/${channel}">${nameOf(summary)}</a>${
      label === null ? undefined : markup`<small class="mono">${shortId(channel)}</small>`
    }</span></th><td data-label="${texts.columnRole}">${texts.roleOwner}</td><td class="figure" data-label="${texts.membersTitle}">${texts.count(members)}</td><td data-label="${texts.grantsEnd}">${grantEnd(texts, grantsEnd, now)}</td></tr>`
  }
}

const joinedRow = (texts: Texts, { channel, state }: Claim): Entry => ({
  channel,
  name: "",
  row: markup`<tr><th scope="row"><span class="name mono">${shortId(channel)}</span></th><td data-label="${texts.columnRole}">${texts.claimStates[state]}</td><td></td><td><a href="/portal/channels/${channel}/grants">${texts.collectGrant}</a></td></tr>`
})

const urlOf = (query: Query, change: Partial<Query>): string => {
  const { page, q, role } = { ...query, page: 1, ...change }
  const parts = new URLSearchParams({
    ...(q === "" ? {} : { q }),
    ...(role === "all" ? {} : { role }),
    ...(page === 1 ? {} : { page: String(page) })
  }).toString()
  return parts === "" ? "/portal/channels" : `/portal/channels?${parts}`
}

const list = (texts: Texts, { claims, now, own, query }: Facts): Markup | undefined => {
  const fits = ({ channel, name }: Entry) =>
    query.q === "" || channel.includes(query.q.toLowerCase()) || name.toLowerCase().includes(query.q.toLowerCase())
  const mine = own.map((summary) => ownRow(texts, summary, now)).filter(fits)
  const joined = claims
    .filter(({ state }) => state === "Claimed")
    .map((each) => joinedRow(texts, each))
    .filter(fits)
  const counts = { all: mine.length + joined.length, mine: mine.length, joined: joined.length }
  const chosen = query.role === "mine" ? mine : query.role === "joined" ? joined : [...mine, ...joined]
  const shown = chosen.slice((query.page - 1) * perPage, query.page * perPage)
  if (counts.all === 0 && query.q === "") return undefined
  return markup`<section class="panel list" aria-label="${texts.channels}"><form class="filters" role="search" method="get" action="/portal/channels?" aria-label="${texts.channels}">
    <div class="search">${icon("search")}<label for="q" class="hidden">${texts.findChannel}</label><input id="q" name="q" type="search" value="${query.q}" placeholder="${texts.findChannel}"></div>${
      query.role === "all" ? undefined : markup`<input type="hidden" name="role" value="${query.role}">`
    }<button class="hidden">${texts.find}</button>
    <nav class="segments" aria-label="${texts.columnRole}">${(["all", "mine", "joined"] as const).map(
      (role) =>
        markup`<a href="${urlOf(query, { role })}"${role === query.role ? markup` aria-current="true"` : undefined}>${texts.channelRoles[role]} <span class="n">${texts.count(counts[role])}</span></a>`
    )}</nav></form>${
      shown.length === 0
        ? markup`<p class="pad soft">${texts.noChannelFits} <a href="/portal/channels">${texts.showAll}</a></p>`
        : markup`<table><caption class="hidden">${texts.channels}</caption><thead><tr><th scope="col">${texts.channel}</th><th scope="col">${texts.columnRole}</th><th class="figure" scope="col">${texts.membersTitle}</th><th scope="col">${texts.grantsEnd}</th></tr></thead>
          <tbody>${shown.map(({ row }) => row)}</tbody></table>
          <footer><span>${texts.channelsFound(chosen.length)}</span><span class="row">${
            query.page === 1 ? undefined : markup`<a href="${urlOf(query, {})}">${texts.channelsFirst}</a>`
          }${
            chosen.length <= query.page * perPage
              ? undefined
              : markup`<a rel="next" href="${urlOf(query, { page: query.page + 1 })}">${texts.channelsNext}</a>`
          }</span></footer>`
    }</section>`
}

/** Which channel joins two holders of the rooms: a row and a column for each. */
const matrix = (texts: Texts, rooms: ReadonlyArray<RoomPair>) => {
  const holders = [...new Set(rooms.flatMap(({ a, b }) => [a, b]))].toSorted()
  const channelOf = new Map(
    rooms.flatMap(({ a, b, channel }) => [[`${a} ${b}`, channel] as const, [`${b} ${a}`, channel] as const])
  )
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${texts.roomsTitle}"><table class="matrix"><thead><tr><td></td>${holders.map(
    (holder) => markup`<th scope="col"><code>${holder.slice(0, 8)}</code></th>`
  )}</tr></thead><tbody>${holders.map(
    (row) =>
      markup`<tr><th scope="row"><code>${row.slice(0, 8)}</code></th>${holders.map((column) => {
        const channel = channelOf.get(`${row} ${column}`)
        return markup`<td>${channel === undefined ? "–" : markup`<a href="/portal/channels/${channel}"><code>${channel.slice(0, 8)}</code></a>`}</td>`
      })}</tr>`
  )}</tbody></table></div>`
}

/** What an MCP client's configuration file says of the gateway, by client. */
const gatewayBlocks = [
  ["Claude Code, Cursor", { mcpServers: { catenet: { command: "ct-agent", args: ["mcp", "gateway"] } } }],
  ["VS Code", { servers: { catenet: { type: "stdio", command: "ct-agent", args: ["mcp", "gateway"] } } }],
  ["Codex", '[mcp_servers.catenet]\ncommand = "ct-agent"\nargs = ["mcp", "gateway"]']
] as const

const mcpPanel = (texts: Texts) => {
  const copied = (text: string) =>
    markup`<pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">${text}</pre>`
  return section(
    texts.mcpTitle,
    markup`<div class="pad">${copied("ct-agent mcp share -- npx -y some-server")}</div>${gatewayBlocks.map(
      ([client, block]) =>
        more(client, undefined, copied(typeof block === "string" ? block : JSON.stringify(block, undefined, 2)))
    )}<footer><span>${texts.mcpGateway}</span></footer>`,
    { lead: texts.mcpShare, id: "mcp" }
  )
}

/** Nothing is there yet: what a channel is for, and how one begins. */
const empty = (texts: Texts) =>
  markup`<section class="panel"><div class="empty"><span class="seal lead">${icon("channels")}</span><h2>${texts.channelsEmptyTitle}</h2><p>${texts.channelsEmptyText}</p>
    <div class="row"><a class="button primary" href="/portal/channels?new=channel">${icon("plus")}${texts.newChannel}</a><a class="button" href="/portal/channels?new=room">${texts.newRoomLong}</a></div></div></section>`

/** The key of an operator: the browser makes one and keeps it in a file, or it was made elsewhere. */
const keyFields = (texts: Texts, sent: Sent | undefined, form: string, fields: Markup) =>
  markup`<p class="hint" data-keymaker="${texts.operatorMake}" data-made="${texts.operatorMade}" data-unable="${texts.keysUnable}">${texts.channelKeyText}</p>
    ${more(texts.haveKey, undefined, markup`${field({ ...valuesOf(texts, sent, form)("operator_pubkey"), label: texts.operatorKey, hint: texts.operatorHint })}${fields}`, { isOpen: true })}`

const newChannel = (texts: Texts, sent: Sent | undefined) => {
  const values = valuesOf(texts, sent, "register")
  return markup`<form class="panel pad" method="post" action="/portal/channels">
    ${field({ ...values("label"), label: texts.channelLabel, hint: texts.channelLabelHint, isOptional: true })}
    ${keyFields(texts, sent, "register", field({ ...values("channel"), label: texts.channelId, hint: texts.channelIdHint, isOptional: true }))}
    <button class="primary">${texts.channelsRegister}</button></form>`
}

const newRoom = (texts: Texts, sent: Sent | undefined) =>
  markup`<form class="panel pad" method="post" action="/portal/rooms">
    ${area({ ...valuesOf(texts, sent, "room")("holders"), label: texts.roomHolders, hint: texts.roomHoldersHint })}
    ${keyFields(texts, sent, "room", markup``)}
    <button class="primary">${texts.roomsOpen}</button></form>`

const formPage = (texts: Texts, form: "register" | "room", sent: Sent | undefined): Page => {
  const [title, lead, body] =
    form === "register"
      ? [texts.newChannel, texts.newChannelText, newChannel(texts, sent)]
      : [texts.newRoom, texts.roomsText, newRoom(texts, sent)]
  return {
    title,
    area: "channels",
    crumbs: [["/portal/channels", texts.channels]],
    main: markup`<div class="head"><div><h1>${title}</h1><p class="head-lead">${lead}</p></div></div><div class="narrow-page">${body}</div>`
  }
}

export const page = (texts: Texts, facts: Facts, sent: Sent | undefined): Page => {
  const { query, rooms } = facts
  if (query.form !== undefined) return formPage(texts, query.form, sent)
  const listed = list(texts, facts)
  return {
    title: texts.channels,
    area: "channels",
    main: markup`<div class="head"><div><h1>${texts.channels}</h1><p class="head-lead">${texts.channelsText}</p></div>
        <div class="row"><a class="button" href="/portal/agent-bridges">${texts.bridgesTitle}</a>${
          listed === undefined
            ? undefined
            : markup`<a class="button" href="/portal/channels?new=room">${texts.newRoom}</a><a class="button primary" href="/portal/channels?new=channel">${icon("plus")}${texts.newChannel}</a>`
        }</div></div>
      ${query.isClaimed ? callout("good", "check", markup`<p role="status">${texts.claimedText}</p>`) : undefined}
      ${invitations(texts, facts)}${listed ?? empty(texts)}${
        rooms.length === 0
          ? undefined
          : section(texts.roomsTitle, matrix(texts, rooms), { lead: texts.roomsText, id: "rooms" })
      }${mcpPanel(texts)}`
  }
}
