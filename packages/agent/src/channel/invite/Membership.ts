/**
 * The prepared membership that a link gives out, sealed under the key of the link, so that the control plane keeps what it cannot
 * read. The holder key comes with it, because the operator's grant names it; the Noise key is made by the one who joins. Pure.
 */
import * as Json from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import * as SealedText from "@catenet/crypto/SealedText"
import { Redacted, Result, Schema } from "effect"

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

const place = "channel invite v1"
const decode = Schema.decodeUnknownResult(Membership)

const keyOf = (key: Redacted.Redacted<Uint8Array>) => SealedText.keyOf(native, Redacted.value(key))

export const seal = (key: Redacted.Redacted<Uint8Array>, membership: Membership): string =>
  SealedText.seal(native, keyOf(key), place, Json.write(membership))

/** Fails when it was sealed under another key, or is none. */
export const open = (key: Redacted.Redacted<Uint8Array>, text: string): Result.Result<Membership, unknown> =>
  SealedText.open(native, [keyOf(key)], place, text).pipe(Result.flatMap(Json.parse), Result.flatMap(decode))
