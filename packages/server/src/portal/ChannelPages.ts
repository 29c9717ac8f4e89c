/** What the pages of channels show: own ones with their members and invites, and those that the reader is invited to. */
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId } from "@catenet/domain/channels/Channel"
import { ChannelNotFound } from "@catenet/domain/channels/ChannelErrors"
import { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import { formatAddress } from "@catenet/platform/NetworkParser"
import { Effect, Option, Redacted, Schema } from "effect"
import { AllowLists } from "../channels/AllowLists.ts"
import { Channels, hideForeign } from "../channels/Channels.ts"
import { ClaimInvites } from "../channels/ClaimInvites.ts"
import { Claims } from "../channels/Claims.ts"
import { Members } from "../channels/Members.ts"
import { Rooms } from "../channels/Rooms.ts"
import { Releases } from "../releases/Releases.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import * as ChannelPage from "./pages/ChannelPage.ts"
import * as ChannelsPage from "./pages/ChannelsPage.ts"
import * as ClaimPages from "./pages/ClaimPages.ts"
import type { Sent } from "./shell/Field.ts"
import * as Visits from "./shell/Visits.ts"

/** What the pages and the forms of channels ask. */
export const channelServices = Effect.all({
  channels: Channels,
  members: Members,
  allowLists: AllowLists,
  invites: ClaimInvites,
  claims: Claims,
  rooms: Rooms
})

type Account = Caller["Service"]

const decodeChannel = Schema.decodeUnknownOption(ChannelId)

/** A malformed channel id is answered as an unknown one. */
export const channelFrom = (text: string) =>
  Option.match(decodeChannel(text), { onNone: () => new ChannelNotFound(), onSome: Effect.succeed })

/** What a machine that joins has to know of this platform. */
const joinPlace = Effect.gen(function* () {
  const releases = yield* Releases
  const { agentsUrl, channelBrokerPort, channelFrontDoor, channelRelayPort, portalBaseUrl } = yield* Settings
  const { hostname, origin } = agentsUrl ?? portalBaseUrl
  const whereabouts = {
    origin,
    frontDoor: formatAddress(channelFrontDoor ?? { host: hostname, port: 443 }),
    broker: channelBrokerPort,
    relay: channelRelayPort
  }
  return Effect.map(releases.joining, (command) => ({ ...whereabouts, command }))
})

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const { allowLists, channels, claims, invites, members, rooms } = yield* channelServices

  const place = yield* joinPlace
  const list = Effect.fnUntraced(function* (self: Visits.Visit, account: Account, sent?: Sent) {
    const query = ChannelsPage.readQuery(self.request.url, sent)
    const facts =
      query.form === undefined
        ? yield* Effect.all(
            { claims: claims.list(account, {}), own: channels.summaries(account), rooms: rooms.list(account, {}) },
            { concurrency: "unbounded" }
          )
        : { claims: [], own: [], rooms: [] }
    const { texts } = self.reader
    const shown = { ...facts, email: account.email, query, now: yield* unixSeconds }
    return show(self, ChannelsPage.page(texts, shown, sent), sent === undefined ? 200 : 400)
  })

  const one = Effect.fnUntraced(function* (self: Visits.Visit, account: Account, path: string, sent?: Sent) {
    const id = yield* channelFrom(path)
    const channel = yield* channels.get(account, id)
    const tab = ChannelPage.tabOf(self.request.url, sent)
    const facts = yield* Effect.all(
      {
        summaries: channels.summaries(account, id),
        members: tab === "members" ? members.list(account, id, {}) : Effect.succeed([]),
        grants: tab === "members" ? members.grants(account, id, {}) : Effect.succeed([]),
        emails: tab === "invitations" ? allowLists.list(account, id, {}) : Effect.succeed([]),
        invites: tab === "invitations" ? invites.list(account, id, {}) : Effect.succeed([])
      },
      { concurrency: "unbounded" }
    )
    const label = facts.summaries[0]?.label ?? null
    const shown = { channel, label, tab, ...facts, place: yield* place, sent, now: yield* unixSeconds }
    return show(self, ChannelPage.page(self.reader.texts, shown), sent === undefined ? 200 : 400)
  }, hideForeign)

  const claiming = Effect.fnUntraced(function* (self: Visits.Visit, account: Account, path: string, sent?: Sent) {
    const id = yield* channelFrom(path)
    // The form is the same for every channel: whether the account is invited is decided when it claims.
    const isClaimed = (yield* claims.list(account, {})).some(
      ({ channel, state }) => channel === id && state === "Claimed"
    )
    return show(
      self,
      ClaimPages.claim(self.reader.texts, { channel: id, isClaimed, sent, subject: account.subject }),
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
          Effect.map((found) => show(self, ClaimPages.grants(self.reader.texts, found))),
          Effect.catchTag("NothingClaimed", () => new ChannelNotFound())
        ),
      "/portal/claim": (self) =>
        Effect.gen(function* () {
          const invite = new URL(self.request.url, "http://localhost").searchParams.get("invite") ?? ""
          const found = yield* invites.show(Redacted.make(invite))
          if (self.caller.email === null) return yield* new VerifiedEmailRequired()
          return show(self, ClaimPages.invite(self.reader.texts, found, invite))
        })
    } satisfies Readonly<Record<string, Visits.MemberPage>>
  }
})
