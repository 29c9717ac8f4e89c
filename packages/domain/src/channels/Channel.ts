/** A channel between agents: its members, and what its owner deposits for them. */
import { Schema, SchemaGetter } from "effect"
import { Hex278, Hex64 } from "../values/Hex.ts"
import {
  HolderKey,
  isSmallEd25519,
  NewHolderKey,
  NewNoiseKey,
  NewOperatorKey,
  NoiseAttestation,
  NoiseKey,
  OperatorKey,
  Signature
} from "../values/Keys.ts"
import { Count } from "../values/Numbers.ts"
import { describedAs, patternBy, portable } from "../values/Pattern.ts"
import { label, line } from "../values/Text.ts"

/** Chosen by the owner; by convention derived from the keys of its two ends. 64 hex. */
export const ChannelId = Hex64.pipe(Schema.brand("ChannelId"))
export type ChannelId = typeof ChannelId.Type

/** A channel id is derived from an operator key and two holders, or from it and a role of a pipeline. */
export const ChannelDerivation = Schema.Union([
  Schema.Struct({ holders: Schema.Tuple([NewHolderKey, NewHolderKey]) }),
  Schema.Struct({ pipeline: line(128), role: line(128) })
])
export type ChannelDerivation = typeof ChannelDerivation.Type

/** What an owner registers. The owner is always the verified caller, never a field. */
export class ChannelRegistration extends Schema.Class<ChannelRegistration>("ChannelRegistration")({
  channel: ChannelId,
  operator_pubkey: NewOperatorKey,
  confirm_rekey: Schema.optionalKey(Schema.Boolean),
  /** The operator key's signature for the caller's account. With it a channel is taken over from who has none. */
  operator_proof: Schema.optionalKey(Signature),
  /** What the channel id is derived from beside the operator key; looked at together with `operator_proof`. */
  derived_from: Schema.optionalKey(ChannelDerivation)
}) {}

/** A registered channel, for its owner. */
export class Channel extends Schema.Class<Channel>("Channel")({
  channel: ChannelId,
  operator_pubkey: OperatorKey,
  members: Count
}) {}

/** Characters of what an owner calls a channel. */
export const maxChannelLabel = 60
export const ChannelLabel = label(maxChannelLabel)

/** A member as other accounts see it; the Noise key is null for a member without one. */
export class Member extends Schema.Class<Member>("Member")({
  holder: HolderKey,
  noise_pubkey: Schema.NullOr(NoiseKey)
}) {}

/** What a holder presents to become a member: its holder key attests its Noise key for one channel. */
export class MemberMaterial extends Schema.Class<MemberMaterial>("MemberMaterial")({
  holder: NewHolderKey,
  noise_pubkey: NewNoiseKey,
  noise_attestation: NoiseAttestation
}) {}

/** A signed member grant, 139 bytes as 278 hex; blanks around it do not count. */
export const Grant = Schema.String.check(describedAs({ ...portable(/^[0-9a-fA-F]{278}$/u) })).pipe(
  Schema.decodeTo(Hex278, {
    decode: SchemaGetter.transform((text: string) => text.trim()),
    encode: SchemaGetter.passthrough()
  }),
  Schema.brand("Grant")
)
export type Grant = typeof Grant.Type

/** A grant and an invitation consist of a signature, the channel, the key that they are for, and what it may do. */
export const namesGoodKey = patternBy(
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

/** Seconds that a claim invite lives. */
export const claimInviteSeconds = 900

/** Seconds that a join link lives: a day. */
export const joinLinkSeconds = 86_400

/** How many holders a room has. */
export const minRoomHolders = 2
export const maxRoomHolders = 12

/** Two holders of a room and the channel between them. */
export class RoomPair extends Schema.Class<RoomPair>("RoomPair")({ a: HolderKey, b: HolderKey, channel: ChannelId }) {}
