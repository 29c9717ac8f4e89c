/** `/portal/channels`: the channels that somebody was invited to, own channels, and rooms. */
import type { ChannelId, RoomPair } from "@catenet/domain/channels/Channel"
import type { Claim } from "@catenet/domain/channels/Claim"
import { markup } from "@catenet/platform/Markup"
import { area, field, panel, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { shortKey } from "./ShortKey.ts"

export interface Facts {
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

export const page = (texts: Texts, facts: Facts): Page => {
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
      <form class="panel" method="post" action="/portal/channels"><h2>${texts.channelsRegister}</h2>
        ${field({ ...register("operator_pubkey"), id: "register-operator", label: texts.operatorKey, hint: texts.operatorHint })}
        ${field({ ...register("channel"), label: texts.channelId, hint: texts.channelIdHint, isOptional: true })}
        <button>${texts.channelsRegister}</button></form>
      <section class="panel" id="rooms"><h2>${texts.roomsTitle}</h2><p class="hint">${texts.roomsText}</p>
        ${rooms.length === 0 ? undefined : matrix(texts, rooms)}
        <form method="post" action="/portal/rooms">
        ${field({ ...room("operator_pubkey"), id: "room-operator", label: texts.operatorKey, hint: texts.operatorHint })}
        ${area({ ...room("holders"), label: texts.roomHolders, hint: texts.roomHoldersHint })}
        <button>${texts.roomsOpen}</button></form></section>`
  }
}
