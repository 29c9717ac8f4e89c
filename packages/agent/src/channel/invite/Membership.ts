/** The prepared membership that a link gives out, with the variables that it may set and no others. Pure. */
import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
import { native } from "@catenet/crypto/native"
import { type Redacted, Result, Schema } from "effect"

/** Variables of `channel` that an invite may set, and no others. */
const variables = [
  "CT_CHANNEL_ROLE",
  "CT_CHANNEL_GRANT",
  "CT_CHANNEL_HOLDER_KEY",
  "CT_CHANNEL_BROKER",
  "CT_CHANNEL_RELAY",
  "CT_CHANNEL_RELAY_ONLY",
  "CT_CHANNEL_FRONT_DOOR",
  "CT_CHANNEL_FRONT_DOOR_CERT",
  "CT_CHANNEL_FRONT_DOOR_ONLY"
] as const

const line = Schema.String.check(Schema.isPattern(/^[^\p{Cc}]{1,6000}$/u))

const Membership = Schema.Struct({
  use: Schema.Literals(["mcp", "variables"]),
  invitation: Schema.String.check(Schema.isPattern(/^[0-9a-f]{278}$/u)),
  holderKey: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/u)),
  values: Schema.Array(Schema.Tuple([Schema.Literals(variables), line]))
})
export type Membership = typeof Membership.Type

const decode = Schema.decodeUnknownResult(Membership)

/** Fails when it was sealed under another key, or is none. */
export const open = (key: Redacted.Redacted<Uint8Array>, text: string): Result.Result<Membership, unknown> =>
  Result.flatMap(PreparedMembership.open(native, key, text), decode)
