/** Pages of channels: own ones with their members and invites, and those that the reader is invited to. */
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId, type RoomPair } from "@catenet/domain/channels/Channel"
import { ChannelNotFound } from "@catenet/domain/channels/ChannelErrors"
import type { Claim, ClaimedIdentity } from "@catenet/domain/channels/Claim"
import type { ClaimInvite } from "@catenet/domain/channels/ClaimInvite"
import { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import { markup } from "@catenet/platform/Markup"
import { formatAddress } from "@catenet/platform/NetworkParser"
import { Effect, Option, Redacted, Schema } from "effect"
import { AllowLists } from "../channels/AllowLists.ts"
import { Channels, hideForeign } from "../channels/Channels.ts"
import { ClaimInvites } from "../channels/ClaimInvites.ts"
import { Claims } from "../channels/Claims.ts"
import { Members } from "../channels/Members.ts"
import { Rooms } from "../channels/Rooms.ts"
import { Releases } from "../releases/Releases.ts"
import { Settings } from "../settings/Settings.ts"
import * as ChannelPage from "./pages/ChannelPage.ts"
import { materialFields } from "./pages/MaterialFields.ts"
import { shortKey } from "./pages/ShortKey.ts"
import { area, field, panel, type Sent, valuesOf } from "./shell/Field.ts"
import type { Page } from "./shell/Shell.ts"
import { timestamp } from "./shell/Timestamp.ts"
import * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"

/** What the pages and the forms of channels ask. */
export const channelServices = Effect.all({
  channels: Channels,
  members: Members,
  allowLists: AllowLists,
  invites: ClaimInvites,
  claims: Claims,
  rooms: Rooms
})

/** `/portal/channels`: the channels that somebody was invited to, own channels, and rooms. */
interface Facts {
  readonly claims: ReadonlyArray<Claim>
  readonly own: ReadonlyArray<ChannelId>
  readonly rooms: ReadonlyArray<RoomPair>
  readonly email: string | null
  readonly isClaimed: boolean
  readonly sent: Sent | undefined
}

const invited = (texts: Texts, { claims, email }: Facts) =>
  claims.length === 0
    ? markup`<p class="hint">${email === null ? texts.channelsNoEmail : texts.channelsNone}</p>`
    : markup`<table><tbody>${claims.map(
        ({ channel, state }) => markup`<tr><td>${shortKey(channel)}</td><td>${texts.claimStates[state]}</td>
          <td>${
            state === "Claimed"
              ? markup`<a href="/portal/channels/${channel}/grants">${texts.collectGrant}</a>`
              : markup`<a href="/portal/channels/${channel}/claim">${texts.claimAction}</a>`
          }</td></tr>`
      )}</tbody></table>`

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
  return panel(
    texts.mcpTitle,
    markup`<p class="hint">${texts.mcpShare}</p>${copied("ct-agent mcp share -- npx -y some-server")}
      <p class="hint">${texts.mcpGateway}</p>${gatewayBlocks.map(
        ([client, block]) =>
          markup`<details><summary>${client}</summary>${copied(typeof block === "string" ? block : JSON.stringify(block, undefined, 2))}</details>`
      )}`,
    "mcp"
  )
}

const channelsPage = (texts: Texts, facts: Facts): Page => {
  const { isClaimed, own, rooms, sent } = facts
  const register = valuesOf(texts, sent, "register")
  const room = valuesOf(texts, sent, "room")
  return {
    title: texts.channels,
    area: "channels",
    main: markup`<div class="head"><div><h1>${texts.channels}</h1><p class="lead">${texts.channelsText}</p></div>
        <a class="button" href="/portal/agent-bridges">${texts.bridgesTitle}</a></div>
      ${isClaimed ? markup`<p class="panel notice" role="status">${texts.claimedText}</p>` : undefined}
      ${panel(texts.channelsInvited, invited(texts, facts))}
      ${panel(
        texts.channelsOwn,
        own.length === 0
          ? markup`<p class="hint">${texts.channelsOwnNone}</p>`
          : markup`<ul class="plain">${own.map(
              (channel) => markup`<li><a href="/portal/channels/${channel}"><code>${channel}</code></a></li>`
            )}</ul>`
      )}
      ${mcpPanel(texts)}
      <form class="panel pad" method="post" action="/portal/channels"><h2>${texts.channelsRegister}</h2>
        ${field({ ...register("operator_pubkey"), id: "register-operator", label: texts.operatorKey, hint: texts.operatorHint })}
        ${field({ ...register("channel"), label: texts.channelId, hint: texts.channelIdHint, isOptional: true })}
        <button>${texts.channelsRegister}</button></form>
      <section class="panel pad" id="rooms"><h2>${texts.roomsTitle}</h2><p class="hint">${texts.roomsText}</p>
        ${rooms.length === 0 ? undefined : matrix(texts, rooms)}
        <form method="post" action="/portal/rooms">
        ${field({ ...room("operator_pubkey"), id: "room-operator", label: texts.operatorKey, hint: texts.operatorHint })}
        ${area({ ...room("holders"), label: texts.roomHolders, hint: texts.roomHoldersHint })}
        <button>${texts.roomsOpen}</button></form></section>`
  }
}

/**
 * `/portal/channels/:channel/claim`: takes a membership up. The script makes the keys in the browser and offers their
 * private halves as a file, which are never sent; the fields are for keys that were made elsewhere.
 */
const claimPage = (
  texts: Texts,
  {
    channel,
    isClaimed,
    sent,
    subject
  }: {
    readonly channel: ChannelId
    readonly isClaimed: boolean
    readonly sent: Sent | undefined
    readonly subject: string
  }
): Page => ({
  title: texts.claimAction,
  area: "channels",
  crumbs: [["/portal/channels", texts.channels]],
  here: channel.slice(0, 8),
  main: markup`<div class="head"><div><h1>${texts.claimAction}</h1><p class="lead mono">${channel}</p></div></div>
    ${isClaimed ? markup`<p class="panel notice">${texts.claimAgain}</p>` : undefined}
    <form class="panel pad" method="post" action="/portal/channels/${channel}/claim-form" data-keys="${channel}" data-account="${subject}"
      data-make="${texts.keysMake}" data-made="${texts.keysMade}" data-unable="${texts.keysUnable}">
      <p class="hint">${texts.claimText}</p>
      ${materialFields(texts, sent, "claim")}${field({
        ...valuesOf(texts, sent, "claim")("account_proof"),
        label: texts.accountProof,
        hint: texts.accountProofHint,
        isOptional: true
      })}
      <button class="primary">${texts.claimAction}</button></form>`
})

/** `/portal/channels/:channel/grants`: the grants that wait for those holders which an account has claimed. */
const pickedUpGrant = (texts: Texts, { grant, holder }: ClaimedIdentity) =>
  markup`<section class="panel pad"><h2>${texts.holderKey} <span class="mono">${holder.slice(0, 8)}</span></h2>
    <p class="mono">${holder}</p>${
      grant === null
        ? markup`<p class="hint">${texts.pickupWaits}</p>`
        : markup`<p class="hint">${texts.pickupUse}</p>
            <pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">CT_CHANNEL_GRANT=${grant}</pre>`
    }</section>`

const grantPickupPage = (
  texts: Texts,
  { channel, identities }: { readonly channel: ChannelId; readonly identities: ReadonlyArray<ClaimedIdentity> }
): Page => ({
  title: texts.pickupTitle,
  area: "channels",
  crumbs: [["/portal/channels", texts.channels]],
  here: channel.slice(0, 8),
  main: markup`<div class="head"><div><h1>${texts.pickupTitle}</h1><p class="lead mono">${channel}</p></div></div>
    ${identities.map((identity) => pickedUpGrant(texts, identity))}`
})

/** `/portal/claim?invite=`: what an invite offers, and one button. Looking claims nothing. */
const invitePage = (texts: Texts, { channel, expires_at, holder, label }: ClaimInvite, invite: string): Page => ({
  title: texts.inviteTitle,
  area: "channels",
  main: markup`<div class="head"><h1>${texts.inviteTitle}</h1></div>
    <form class="panel pad" method="post" action="/portal/claim/confirm">
      <p>${texts.inviteText}</p>
      <dl class="pairs"><dt>${texts.channel}</dt><dd class="mono">${channel}</dd>
        <dt>${texts.inviteLabel}</dt><dd>${label ?? "–"}</dd>
        <dt>${texts.holderKey}</dt><dd class="mono">${holder}</dd>
        <dt>${texts.inviteExpires}</dt><dd>${timestamp(expires_at)}</dd></dl>
      <input type="hidden" name="invite" value="${invite}">
      <p class="after"><button class="primary">${texts.inviteConfirm}</button></p></form>`
})

type Account = Caller["Service"]

const decodeChannel = Schema.decodeUnknownOption(ChannelId)

/** A malformed channel id is answered as an unknown one. */
export const channelFrom = (text: string) =>
  Option.match(decodeChannel(text), { onNone: () => new ChannelNotFound(), onSome: Effect.succeed })

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const { allowLists, channels, claims, invites, members, rooms } = yield* channelServices

  const releases = yield* Releases
  const { agentsUrl, channelBrokerPort, channelFrontDoor, channelRelayPort, portalBaseUrl } = yield* Settings
  const { hostname, origin } = agentsUrl ?? portalBaseUrl
  const whereabouts = {
    origin,
    frontDoor: formatAddress(channelFrontDoor ?? { host: hostname, port: 443 }),
    broker: channelBrokerPort,
    relay: channelRelayPort
  }

  const list = Effect.fnUntraced(function* (self: Visits.Visit, account: Account, sent?: Sent) {
    const facts = yield* Effect.all(
      { claims: claims.list(account, {}), own: channels.list(account, {}), rooms: rooms.list(account, {}) },
      { concurrency: "unbounded" }
    )
    const isClaimed = new URL(self.request.url, "http://localhost").searchParams.get("notice") === "claimed"
    const page = channelsPage(self.reader.texts, { ...facts, email: account.email, isClaimed, sent })
    return show(self, page, sent === undefined ? 200 : 400)
  })

  const one = Effect.fnUntraced(function* (self: Visits.Visit, account: Account, path: string, sent?: Sent) {
    const id = yield* channelFrom(path)
    const channel = yield* channels.get(account, id)
    const facts = yield* Effect.all(
      {
        members: members.list(account, id, {}),
        grants: members.grants(account, id, {}),
        emails: allowLists.list(account, id, {}),
        invites: invites.list(account, id, {})
      },
      { concurrency: "unbounded" }
    )
    const place = { ...whereabouts, command: yield* releases.joining }
    const page = ChannelPage.page(self.reader.texts, { channel, ...facts, place, sent })
    return show(self, page, sent === undefined ? 200 : 400)
  }, hideForeign)

  const claiming = Effect.fnUntraced(function* (self: Visits.Visit, account: Account, path: string, sent?: Sent) {
    const id = yield* channelFrom(path)
    // The form is the same for every channel: whether the account is invited is decided when it claims.
    const isClaimed = (yield* claims.list(account, {})).some(
      ({ channel, state }) => channel === id && state === "Claimed"
    )
    return show(
      self,
      claimPage(self.reader.texts, { channel: id, isClaimed, sent, subject: account.subject }),
      sent === undefined ? 200 : 400
    )
  })

  return {
    list,
    one,
    claiming,
    pages: {
      "/portal/channels": (self) => list(self, self.caller),
      "/portal/channels/:channel": (self, at) => one(self, self.caller, at("channel")),
      "/portal/channels/:channel/claim": (self, at) => claiming(self, self.caller, at("channel")),
      "/portal/channels/:channel/grants": (self, at) =>
        Effect.flatMap(channelFrom(at("channel")), (id) => claims.collectGrants(self.caller, id)).pipe(
          Effect.map((found) => show(self, grantPickupPage(self.reader.texts, found))),
          Effect.catchTag("NothingClaimed", () => new ChannelNotFound())
        ),
      "/portal/claim": (self) =>
        Effect.gen(function* () {
          const invite = new URL(self.request.url, "http://localhost").searchParams.get("invite") ?? ""
          const found = yield* invites.show(Redacted.make(invite))
          if (self.caller.email === null) return yield* new VerifiedEmailRequired()
          return show(self, invitePage(self.reader.texts, found, invite))
        })
    } satisfies Readonly<Record<string, Visits.MemberPage>>
  }
})
