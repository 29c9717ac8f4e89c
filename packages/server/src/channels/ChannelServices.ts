/** Channels with their members, rooms, invitations, claims and bridges. */
import { Layer } from "effect"
import { AllowLists } from "./AllowLists.ts"
import { Bridges } from "./Bridges.ts"
import { ChannelAdmissions } from "./ChannelAdmissions.ts"
import { Channels } from "./Channels.ts"
import { ClaimInvites } from "./ClaimInvites.ts"
import { Claims } from "./Claims.ts"
import { Invitations } from "./Invitations.ts"
import { Members } from "./Members.ts"
import { Rooms } from "./Rooms.ts"

export const layer = Layer.mergeAll(
  AllowLists.layer,
  Bridges.layer,
  ChannelAdmissions.layer,
  Channels.layer,
  ClaimInvites.layer,
  Claims.layer,
  Invitations.layer,
  Members.layer,
  Rooms.layer
)
