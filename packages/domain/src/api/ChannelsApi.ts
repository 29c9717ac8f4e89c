/**
 * Channels of an account: the registry, members, grants, rooms, allow-lists, claims, claim invites and signed
 * invitations.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  Channel,
  ChannelId,
  ChannelRegistration,
  DepositedGrant,
  maxRoomHolders,
  Member,
  MemberMaterial,
  minRoomHolders,
  NewGrant,
  RoomPair
} from "../channels/Channel.ts"
import {
  AttestationRefused,
  ChannelLimitReached,
  ChannelNotFound,
  ChannelUnknown,
  ClaimInviteGone,
  ClaimInviteUnknown,
  ClaimProofRefused,
  GrantMismatch,
  GrantUndecodable,
  HolderClaimedElsewhere,
  HolderRepeated,
  InvitationExpired,
  InvitationRefused,
  InvitationSpent,
  LinkOperatorDiffers,
  MemberNotFound,
  NotAllowListed,
  NotChannelOwner,
  NothingClaimed,
  OperatorMismatch,
  OperatorProofRefused,
  RoomPairTaken,
  RoomSizeOutOfRange
} from "../channels/ChannelErrors.ts"
import { Claim, ClaimedIdentity, ClaimRequest } from "../channels/Claim.ts"
import { ClaimInvite, InviteLabel, MintedClaimInvite } from "../channels/ClaimInvite.ts"
import { Challenge, InvitationRedemption } from "../channels/InvitationRedemption.ts"
import { VerifiedEmailRequired } from "../identity/AuthenticationErrors.ts"
import { boundedArray } from "../values/BoundedArray.ts"
import { Email } from "../values/Email.ts"
import { HolderKey, NewHolderKey, NewOperatorKey, Signature } from "../values/Keys.ts"
import { Count } from "../values/Numbers.ts"
import { IdempotencyKeyReused, LimitReached } from "../values/RequestErrors.ts"
import { BootstrapSecret, BootstrapToken } from "../values/Tokens.ts"
import { BearerAccess, RateLimit, SameOrigin, SessionAccess } from "./Access.ts"
import { idempotencyHeader, pageQuery } from "./Page.ts"
import { BodyLimit, exactBody, maxListBytes, ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** Taking up a membership: by a verified e-mail that the owner allow-listed, or by a claim invite. */
const channel = { channel: ChannelId }

/** Read as any text: a malformed token is an unknown one. */
const invite = { invite: Schema.RedactedFromValue(Schema.String, { label: "claim invite" }) }

export class ClaimsApi extends HttpApiGroup.make("claims")
  .annotate(OpenApi.Description, "Claiming a membership")
  .add(
    HttpApiEndpoint.get("list", "/portal/claims", {
      query: pageQuery,
      success: Schema.Struct({ claims: Schema.Array(Claim) })
    }).annotate(OpenApi.Summary, "Lists the channels for which your e-mail address is on the allow-list."),
    HttpApiEndpoint.get("collectGrants", "/portal/channels/:channel/grant", {
      params: channel,
      success: Schema.Struct({ channel: ChannelId, identities: Schema.Array(ClaimedIdentity) }),
      error: NothingClaimed
    }).annotate(OpenApi.Summary, "Returns your claimed identities on a channel, with their grants if deposited."),
    HttpApiEndpoint.get("showInvite", "/portal/claims/invite", {
      query: invite,
      success: ClaimInvite,
      error: [ClaimInviteUnknown, ClaimInviteGone]
    }).annotate(OpenApi.Summary, "Returns what an invite offers, without claiming it.")
  )
  .middleware(ReadsParameters)
  .add(
    HttpApiEndpoint.post("claim", "/portal/channels/:channel/claim", {
      params: channel,
      payload: ClaimRequest,
      success: Schema.Struct({ claimed: Schema.Literal(true) }),
      error: [
        AttestationRefused,
        ClaimProofRefused,
        VerifiedEmailRequired,
        NotAllowListed,
        HolderClaimedElsewhere,
        LimitReached
      ]
    })
      .annotate(OpenApi.Summary, "Claims a membership for which your e-mail address is on the allow-list.")
      .middleware(ReadsBody)
      .middleware(SameOrigin),
    HttpApiEndpoint.post("confirmInvite", "/portal/claims/confirm", {
      payload: Schema.Struct(invite),
      success: Schema.Struct({ channel: ChannelId }),
      error: [VerifiedEmailRequired, ClaimInviteUnknown, ClaimInviteGone, HolderClaimedElsewhere, LimitReached]
    })
      .annotate(OpenApi.Summary, "Claims the membership of an invite, which can then no longer be used.")
      .annotateMerge(exactBody)
      .middleware(ReadsBody)
      .middleware(SameOrigin)
  )
  .middleware(RateLimit)
  .middleware(SessionAccess) {}

/** Channel invitations across accounts: public, and gated by what the operator and the invitee have signed. */
export class InvitationsApi extends HttpApiGroup.make("invitations")
  .annotate(OpenApi.Description, "Invitations across accounts")
  .add(
    HttpApiEndpoint.post("challenge", "/channel/invite/challenge", {
      success: Schema.Struct({ challenge: Challenge })
    }).annotate(OpenApi.Summary, "Returns a nonce to sign in a redemption."),
    HttpApiEndpoint.post("redeem", "/channel/invite/redeem", {
      payload: InvitationRedemption,
      success: HttpApiSchema.Empty(200),
      error: [InvitationRefused, ChannelUnknown, InvitationSpent, InvitationExpired, LimitReached]
    })
      .annotate(OpenApi.Summary, "Redeems an invitation signed by the channel's operator.")
      .middleware(ReadsBody)
  )
  .middleware(RateLimit) {}

const done = HttpApiSchema.Empty(200)

/** More than a room may have: the service refuses the size by name; the schema bounds what it counts. */
const holders = boundedArray(64, NewHolderKey)

export class ChannelsApi extends HttpApiGroup.make("channels")
  .annotate(OpenApi.Description, "Channels")
  .add(
    HttpApiEndpoint.get("list", "/me/channels", {
      query: pageQuery,
      success: Schema.Struct({ channels: Schema.Array(ChannelId) })
    }).annotate(OpenApi.Summary, "Lists the ids of your channels, sorted."),
    HttpApiEndpoint.get("get", "/me/channels/:channel", {
      params: channel,
      success: Channel,
      error: NotChannelOwner
    }).annotate(OpenApi.Summary, "Returns a channel."),
    HttpApiEndpoint.delete("deregister", "/me/channels/:channel", {
      params: channel,
      success: done,
      error: NotChannelOwner
    }).annotate(OpenApi.Summary, "Deletes a channel with its members, grants, allow-list and invites."),
    HttpApiEndpoint.get("listMembers", "/me/channels/:channel/members", {
      params: channel,
      query: pageQuery,
      success: Schema.Struct({ members: Schema.Array(Member) }),
      error: NotChannelOwner
    }).annotate(OpenApi.Summary, "Lists the members of a channel."),
    HttpApiEndpoint.post("removeMember", "/me/channels/:channel/members/:holder/remove", {
      params: { channel: ChannelId, holder: HolderKey },
      success: done,
      error: NotChannelOwner
    }).annotate(OpenApi.Summary, "Revokes a membership."),
    HttpApiEndpoint.get("listGrants", "/me/channels/:channel/grants", {
      params: channel,
      query: pageQuery,
      success: Schema.Struct({ grants: Schema.Array(DepositedGrant) }),
      error: NotChannelOwner
    }).annotate(OpenApi.Summary, "Lists the grants deposited for members."),
    HttpApiEndpoint.get("listAllowed", "/me/channels/:channel/allowlist", {
      params: channel,
      query: pageQuery,
      success: Schema.Struct({ emails: Schema.Array(Email) }),
      error: NotChannelOwner
    }).annotate(OpenApi.Summary, "Lists the e-mail addresses that may claim a membership."),
    HttpApiEndpoint.post("disallow", "/me/channels/:channel/allowlist/:email/remove", {
      params: { channel: ChannelId, email: Email },
      success: done,
      error: NotChannelOwner
    }).annotate(OpenApi.Summary, "Prevents further claims by an e-mail address; memberships are kept."),
    HttpApiEndpoint.get("listClaimInvites", "/me/channels/:channel/claim-invites", {
      params: channel,
      query: pageQuery,
      success: Schema.Struct({ invites: Schema.Array(ClaimInvite) }),
      error: ChannelNotFound
    }).annotate(OpenApi.Summary, "Lists the claim invites of a channel, without their tokens."),
    HttpApiEndpoint.get("listRooms", "/me/rooms", {
      query: pageQuery,
      success: Schema.Struct({ channels: Schema.Array(RoomPair) })
    }).annotate(OpenApi.Summary, "Lists the pairs that rooms have registered.")
  )
  .middleware(ReadsParameters)
  .add(
    HttpApiEndpoint.post("register", "/me/channels", {
      payload: ChannelRegistration,
      success: done,
      error: [OperatorProofRefused, NotChannelOwner, ChannelLimitReached, OperatorMismatch, LinkOperatorDiffers]
    })
      .annotate(OpenApi.Summary, "Registers a channel with its operator key; changing the key requires confirm_rekey.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("addMember", "/me/channels/:channel/members", {
      params: channel,
      payload: MemberMaterial,
      success: done,
      error: [AttestationRefused, NotChannelOwner, LimitReached]
    })
      .annotate(OpenApi.Summary, "Adds a member with its attested Noise key, or replaces that key.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("depositGrant", "/me/channels/:channel/grants/:holder", {
      params: { channel: ChannelId, holder: HolderKey },
      payload: Schema.Struct({ grant: NewGrant }),
      success: done,
      error: [GrantUndecodable, GrantMismatch, NotChannelOwner, MemberNotFound]
    })
      .annotate(OpenApi.Summary, "Stores a signed grant for its member to collect.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("allow", "/me/channels/:channel/allowlist", {
      params: channel,
      payload: Schema.Struct({ email: Email }),
      success: done,
      error: [NotChannelOwner, LimitReached]
    })
      .annotate(OpenApi.Summary, "Allows an e-mail address to claim a membership.")
      .middleware(ReadsBody),
    /** Ownership is decided before the body is looked at, so the handler reads the body. */
    HttpApiEndpoint.post("mintClaimInvite", "/me/channels/:channel/claim-invites", {
      params: channel,
      headers: idempotencyHeader,
      payload: Schema.Struct({ ...MemberMaterial.fields, label: Schema.optionalKey(InviteLabel) }),
      success: MintedClaimInvite,
      error: [ChannelNotFound, AttestationRefused, IdempotencyKeyReused, LimitReached]
    })
      .annotate(
        OpenApi.Summary,
        "Creates a link with which a person can claim a prepared membership, once, within 15 minutes."
      )
      .middleware(ReadsBody),
    /** The secret is sealed under a key that only the link holds. */
    HttpApiEndpoint.post("mintJoinLink", "/me/channels/:channel/join-links", {
      params: channel,
      headers: idempotencyHeader,
      payload: Schema.Struct({ secret: BootstrapSecret }),
      success: Schema.Struct({ token: BootstrapToken, expires_in_secs: Count }),
      error: [NotChannelOwner, LimitReached, IdempotencyKeyReused]
    })
      .annotate(OpenApi.Summary, "Stores an encrypted membership under a token that returns it once, within a day.")
      .annotateMerge(exactBody)
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody),
    HttpApiEndpoint.post("openRoom", "/me/rooms", {
      payload: Schema.Struct({
        operator_pubkey: NewOperatorKey,
        holders,
        operator_proof: Schema.optionalKey(Signature)
      }),
      success: Schema.Struct({ channels: Schema.Array(RoomPair) }),
      error: [RoomSizeOutOfRange, HolderRepeated, OperatorProofRefused, ChannelLimitReached, RoomPairTaken]
    })
      .annotate(
        OpenApi.Summary,
        `Registers a channel for every pair of ${minRoomHolders} to ${maxRoomHolders} holders.`
      )
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
  )
  .middleware(RateLimit)
  .middleware(BearerAccess) {}
