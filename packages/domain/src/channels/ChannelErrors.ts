/** Refusals of the channel registry: ownership, members, grants, rooms, claims and invitations. */
import { Schema } from "effect"
import { HolderKey, OperatorKey } from "../values/Keys.ts"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"
import { clause } from "../values/Sentence.ts"
import { ChannelId, claimInviteSeconds, maxRoomHolders, minRoomHolders } from "./Channel.ts"

// Refusals of the bridge: this deployment as a member of channels, for the owners of tunnels.

/** This installation has no keys for the agent bridge. */
export class BridgeNotConfigured extends Problem<BridgeNotConfigured>()("BridgeNotConfigured", {
  status: 503,
  title: "Bridge not configured",
  detail: () => "This deployment has no bridge identity: CT_BRIDGE_HOLDER_KEY and CT_BRIDGE_NOISE_KEY are not set."
}) {}

/** The tunnel has no grant for the bridge. */
export class BridgeGrantMissing extends Problem<BridgeGrantMissing>()("BridgeGrantMissing", {
  status: 404,
  title: "Bridge grant missing",
  detail: () => "No grant for the bridge is stored for this tunnel."
}) {}

/** The bridge could not reach the agent, or the agent refused the call. */
export class BridgeCallFailed extends Problem<BridgeCallFailed>()(
  "BridgeCallFailed",
  {
    status: 502,
    title: "Bridge call failed",
    detail: ({ reason }) => `The agent cannot be reached over the bridge: ${clause(reason)}.`
  },
  { reason: Schema.String }
) {}

/** The channel belongs to another account or does not exist; the response does not distinguish the two. */
export class NotChannelOwner extends Problem<NotChannelOwner>()("NotChannelOwner", {
  status: 403,
  title: "Not the owner of the channel",
  detail: () => "This channel is not registered to your account."
}) {}

/** The channel belongs to another account or does not exist; the response does not distinguish the two. */
export class ChannelNotFound extends Problem<ChannelNotFound>()("ChannelNotFound", {
  status: 404,
  title: "Channel not found",
  detail: () => "No channel of yours has this id."
}) {}

/** The account has reached its limit of channels. */
export class ChannelLimitReached extends Problem<ChannelLimitReached>()(
  "ChannelLimitReached",
  {
    status: 403,
    title: "Channel limit reached",
    detail: ({ limit }) => `Your account has reached its limit of ${limit} channels.`
  },
  { limit: Count }
) {}

/** The channel is registered with another operator key, and the request does not confirm the change. */
export class OperatorMismatch extends Problem<OperatorMismatch>()(
  "OperatorMismatch",
  {
    status: 409,
    title: "Operator key differs",
    detail: ({ channel, offered, registered }) =>
      `Channel ${channel} is registered with the operator key ${registered}, not ${offered}. ` +
      "To change the key, send the request again with confirm_rekey set to true; " +
      "grants signed by the previous operator then stop verifying."
  },
  { channel: ChannelId, registered: OperatorKey, offered: OperatorKey }
) {}

/** The proof of the operator key is invalid, or the channel id is not derived as the request states. */
export class OperatorProofRefused extends Problem<OperatorProofRefused>()(
  "OperatorProofRefused",
  {
    status: 403,
    title: "Operator proof refused",
    detail: ({ part }) =>
      part === "signature"
        ? "operator_proof is not a signature by the operator key over that key and your account."
        : "The channel id is not derived from the operator key and what derived_from names."
  },
  { part: Schema.Literals(["signature", "derivation"]) }
) {}

/** The channel belongs to a topology link whose bound operator has another key. */
export class LinkOperatorDiffers extends Problem<LinkOperatorDiffers>()(
  "LinkOperatorDiffers",
  {
    status: 409,
    title: "Operator key differs",
    detail: ({ channel, offered }) =>
      `Channel ${channel} belongs to a link of a topology that is bound to another operator key, not ${offered}. ` +
      "Register it with the key of that operator, or unbind the topology first."
  },
  { channel: ChannelId, offered: OperatorKey }
) {}

/** The signature over (channel, holder, Noise key) does not verify under the holder's key. */
export class AttestationRefused extends Problem<AttestationRefused>()("AttestationRefused", {
  status: 400,
  title: "Attestation refused",
  detail: () => "noise_attestation is not a signature by the holder over this channel, holder and Noise key."
}) {}

/** The second proof of a claim is not one by the holder for the account that claims. */
export class ClaimProofRefused extends Problem<ClaimProofRefused>()("ClaimProofRefused", {
  status: 403,
  title: "Claim proof refused",
  detail: () => "account_proof is not a signature by the holder over this channel, holder and your account."
}) {}

/** The bytes are not a valid grant. */
export class GrantUndecodable extends Problem<GrantUndecodable>()("GrantUndecodable", {
  status: 400,
  title: "Grant undecodable",
  detail: () => "The grant has the right length, but its bytes do not form a grant."
}) {}

/** The grant was signed for another channel or another holder. */
export class GrantMismatch extends Problem<GrantMismatch>()(
  "GrantMismatch",
  {
    status: 400,
    title: "Grant does not fit",
    detail: ({ part }) => `The ${part} in the grant is not the one in the request.`
  },
  { part: Schema.Literals(["channel", "holder"]) }
) {}

/** The holder of the grant is not a member of the channel. */
export class MemberNotFound extends Problem<MemberNotFound>()("MemberNotFound", {
  status: 404,
  title: "Member not found",
  detail: () => "This holder is not a member of the channel."
}) {}

/** A room has a minimum and a maximum number of holders; the response states them. */
export class RoomSizeOutOfRange extends Problem<RoomSizeOutOfRange>()(
  "RoomSizeOutOfRange",
  {
    status: 400,
    title: "Room size out of range",
    detail: ({ holders }) => `A room has ${minRoomHolders} to ${maxRoomHolders} holders, not ${holders}.`
  },
  { holders: Count }
) {}

/** A holder is listed twice in the room. */
export class HolderRepeated extends Problem<HolderRepeated>()(
  "HolderRepeated",
  {
    status: 400,
    title: "Holder repeated",
    detail: ({ holder }) => `The holder ${holder} is named twice.`
  },
  { holder: HolderKey }
) {}

/** A channel of the room belongs to another account, or has another operator; nothing was registered. */
export class RoomPairTaken extends Problem<RoomPairTaken>()(
  "RoomPairTaken",
  {
    status: 409,
    title: "Room pair taken",
    detail: ({ a, b }) => `The channel between ${a} and ${b} is registered to another account or operator.`
  },
  { a: HolderKey, b: HolderKey }
) {}

/** The session's e-mail may not claim on this channel. */
export class NotAllowListed extends Problem<NotAllowListed>()("NotAllowListed", {
  status: 403,
  title: "Not invited",
  detail: () => "Your e-mail address is not on the allow-list of this channel."
}) {}

/** Another account has claimed this holder. */
export class HolderClaimedElsewhere extends Problem<HolderClaimedElsewhere>()("HolderClaimedElsewhere", {
  status: 409,
  title: "Holder already claimed",
  detail: () => "This holder was claimed by another account."
}) {}

/** The account has claimed no membership of this channel. */
export class NothingClaimed extends Problem<NothingClaimed>()("NothingClaimed", {
  status: 404,
  title: "Nothing claimed",
  detail: () => "Your account has claimed no membership of this channel."
}) {}

/** No claim invite has this token. */
export class ClaimInviteUnknown extends Problem<ClaimInviteUnknown>()("ClaimInviteUnknown", {
  status: 404,
  title: "Invite unknown",
  detail: () => "There is no such invite."
}) {}

/** The claim invite has been used or has expired. */
export class ClaimInviteGone extends Problem<ClaimInviteGone>()(
  "ClaimInviteGone",
  {
    status: 410,
    title: "Invite no longer valid",
    detail: ({ reason }) =>
      `This invite was ${reason === "used" ? "used already" : `valid for ${claimInviteSeconds / 60} minutes and has expired`}.`
  },
  { reason: Schema.Literals(["used", "expired"]) }
) {}

/** No account has registered a channel with this id. */
export class ChannelUnknown extends Problem<ChannelUnknown>()("ChannelUnknown", {
  status: 404,
  title: "Channel unknown",
  detail: () => "No channel with this id is registered."
}) {}

/**
 * The invitation, the challenge, the redemption signature or the attestation is invalid; the response does not state
 * which.
 */
export class InvitationRefused extends Problem<InvitationRefused>()("InvitationRefused", {
  status: 403,
  title: "Invitation refused",
  detail: () => "The invitation or one of its proofs does not verify."
}) {}

/** The operator's invitation has expired. */
export class InvitationExpired extends Problem<InvitationExpired>()("InvitationExpired", {
  status: 410,
  title: "Invitation expired",
  detail: () => "This invitation has expired; ask the operator of the channel for a new one."
}) {}

/** The invitation has already been redeemed. */
export class InvitationSpent extends Problem<InvitationSpent>()("InvitationSpent", {
  status: 409,
  title: "Invitation already redeemed",
  detail: () => "This invitation has been redeemed."
}) {}

/** The holder is neither a keyed member of the channel nor authorized by a bound topology with a Noise key on record. */
export class MemberNotAdmitted extends Problem<MemberNotAdmitted>()("MemberNotAdmitted", {
  status: 404,
  title: "Not admitted",
  detail: () => "This holder is not admitted to this channel."
}) {}
