/** What the pages and the forms of channels ask: the registry, and what belongs to a channel. */
import { Effect } from "effect"
import { AllowLists } from "../channels/AllowLists.ts"
import { Channels } from "../channels/Channels.ts"
import { ClaimInvites } from "../channels/ClaimInvites.ts"
import { Claims } from "../channels/Claims.ts"
import { Members } from "../channels/Members.ts"
import { Rooms } from "../channels/Rooms.ts"

interface ChannelPageServices {
  readonly channels: Channels["Service"]
  readonly members: Members["Service"]
  readonly allowLists: AllowLists["Service"]
  readonly invites: ClaimInvites["Service"]
  readonly claims: Claims["Service"]
  readonly rooms: Rooms["Service"]
}

export const channelServices: Effect.Effect<
  ChannelPageServices,
  never,
  Channels | Members | AllowLists | ClaimInvites | Claims | Rooms
> = Effect.all({
  channels: Channels,
  members: Members,
  allowLists: AllowLists,
  invites: ClaimInvites,
  claims: Claims,
  rooms: Rooms
})
