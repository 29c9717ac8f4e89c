/** A channel between agents: its members, and what its owner deposits for them. */
import { Schema, SchemaGetter } from "effect"
import { Email } from "../values/Email.ts"
import { Hex278, Hex64 } from "../values/Hex.ts"
import {
  HolderKey,
  NewHolderKey,
  NewNoiseKey,
  NewOperatorKey,
  NoiseAttestation,
  NoiseKey,
  OperatorKey,
  Signature
} from "../values/Keys.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { patternBy } from "../values/Pattern.ts"
import { isSmallEd25519 } from "../values/SmallOrder.ts"
import { label } from "../values/Text.ts"
import { ClaimInviteToken } from "../values/Tokens.ts"

/** Chosen by the owner; by convention derived from the keys of its two ends. 64 hex. */
export const ChannelId = Hex64.pipe(Schema.brand("ChannelId"))
export type ChannelId = typeof ChannelId.Type

/** What an owner registers. The owner is always the verified caller, never a field. */
export class ChannelRegistration extends Schema.Class<ChannelRegistration>("ChannelRegistration")({
  channel: ChannelId,
  operator_pubkey: NewOperatorKey,
  confirm_rekey: Schema.optionalKey(Schema.Boolean)
}) {}

/** A registered channel, for its owner. */
export class Channel extends Schema.Class<Channel>("Channel")({
  channel: ChannelId,
  operator_pubkey: OperatorKey,
  members: Count
}) {}

/** A member as others see it; the Noise key is null for one that was never keyed. */
export class Member extends Schema.Class<Member>("Member")({
  holder: HolderKey,
  noise_pubkey: Schema.NullOr(NoiseKey)
}) {}

/** A member's own statement: its holder key attests its Noise key for one channel. */
export class MemberMaterial extends Schema.Class<MemberMaterial>("MemberMaterial")({
  holder: NewHolderKey,
  noise_pubkey: NewNoiseKey,
  noise_attestation: NoiseAttestation
}) {}

/** A signed member grant, 139 bytes as 278 hex; blanks around it do not count. */
export const Grant = Schema.String.pipe(
  Schema.decodeTo(Hex278, {
    decode: SchemaGetter.transform((text: string) => text.trim()),
    encode: SchemaGetter.passthrough()
  }),
  Schema.brand("Grant")
)
export type Grant = typeof Grant.Type

/** A grant and an invitation are a signature, the channel, the key that they are for, and what it may do. */
const namesGoodKey = patternBy(
  (record) => !isSmallEd25519(record.slice(192, 256)),
  "a record for an Ed25519 key that is not of small order"
)

/** A grant that is stored for the first time. */
export const NewGrant = Grant.check(namesGoodKey)

/** A grant that waits for its member. */
export class DepositedGrant extends Schema.Class<DepositedGrant>("DepositedGrant")({
  holder: HolderKey,
  grant: Grant
}) {}

/** What a member finds when it asks for its grants: null until the owner has deposited one. */
export class ClaimedIdentity extends Schema.Class<ClaimedIdentity>("ClaimedIdentity")({
  holder: HolderKey,
  grant: Schema.NullOr(Grant)
}) {}

/** An e-mail address that may claim a membership. */
export class AllowListEntry extends Schema.Class<AllowListEntry>("AllowListEntry")({ email: Email }) {}

/** What became of an allow-listed e-mail on a channel. */
export const ClaimState = Schema.Literals(["Pending", "Claimed"])
export type ClaimState = typeof ClaimState.Type

/** A channel that the caller's verified e-mail is allow-listed for. */
export class Claim extends Schema.Class<Claim>("Claim")({ channel: ChannelId, state: ClaimState }) {}

/** Written by the owner to tell claim invites apart. */
export const InviteLabel = label(64)

/** Seconds that a claim invite lives. */
export const claimInviteSeconds = 900

/** A fresh claim invite: the token is in this answer only. */
export class MintedClaimInvite extends Schema.Class<MintedClaimInvite>("MintedClaimInvite")({
  invite: ClaimInviteToken,
  url: Schema.String,
  expires_at: UnixSeconds
}) {}

/** A claim invite without its token: for the owner's list, and for the person who follows it. */
export class ClaimInvite extends Schema.Class<ClaimInvite>("ClaimInvite")({
  channel: ChannelId,
  holder: HolderKey,
  label: Schema.NullOr(InviteLabel),
  expires_at: UnixSeconds,
  state: Schema.Literals(["open", "used", "expired"])
}) {}

/** Two holders of a room and the channel between them. */
export class RoomPair extends Schema.Class<RoomPair>("RoomPair")({ a: HolderKey, b: HolderKey, channel: ChannelId }) {}

/** A single-use nonce that is bound into a redemption; lives 120 s. */
export const Challenge = Hex64.pipe(Schema.brand("Challenge"))
export type Challenge = typeof Challenge.Type

/** An operator-signed invitation across accounts, 139 bytes as 278 hex. */
export const Invitation = Hex278.pipe(Schema.brand("Invitation"))
export type Invitation = typeof Invitation.Type

const NewInvitation = Invitation.check(namesGoodKey)

/** The invitee redeems an invitation into a membership of `holder`. */
export class InvitationRedemption extends Schema.Class<InvitationRedemption>("InvitationRedemption")({
  invitation: NewInvitation,
  redeem_sig: Signature,
  holder: NewHolderKey,
  noise_pubkey: NewNoiseKey,
  noise_attestation: NoiseAttestation,
  challenge: Schema.optionalKey(Challenge)
}) {}
