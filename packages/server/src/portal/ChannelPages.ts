/** The pages of channels: those that somebody was invited to, and own ones with everything that hangs on them. */
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId } from "@catenet/domain/channels/Channel"
import { ChannelNotFound } from "@catenet/domain/channels/ChannelErrors"
import { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import { formatAddress } from "@catenet/platform/NetworkParser"
import { Effect, Option, Redacted, Schema } from "effect"
import { hideForeign } from "../channels/Channels.ts"
import { Releases } from "../releases/Releases.ts"
import { Settings } from "../settings/Settings.ts"
import { channelServices } from "./ChannelPageServices.ts"
import * as ChannelPage from "./pages/ChannelPage.ts"
import * as ChannelsPage from "./pages/ChannelsPage.ts"
import * as ClaimPage from "./pages/ClaimPage.ts"
import * as GrantPickupPage from "./pages/GrantPickupPage.ts"
import * as InvitePage from "./pages/InvitePage.ts"
import type { Sent } from "./shell/Field.ts"
import * as Visits from "./shell/Visits.ts"

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
    const page = ChannelsPage.page(self.reader.texts, { ...facts, email: account.email, isClaimed, sent })
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
      ClaimPage.page(self.reader.texts, { channel: id, isClaimed, sent, subject: account.subject }),
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
          Effect.map((found) => show(self, GrantPickupPage.page(self.reader.texts, found))),
          Effect.catchTag("NothingClaimed", () => new ChannelNotFound())
        ),
      "/portal/claim": (self) =>
        Effect.gen(function* () {
          const invite = new URL(self.request.url, "http://localhost").searchParams.get("invite") ?? ""
          const found = yield* invites.show(Redacted.make(invite))
          if (self.caller.email === null) return yield* new VerifiedEmailRequired()
          return show(self, InvitePage.page(self.reader.texts, found, invite))
        })
    } satisfies Readonly<Record<string, Visits.MemberPage>>
  }
})
