/** A place in a channel, and whether a grant names it. A grant's signature and expiry are checked each time it is used. */
import * as CryptoGrant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import type { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { GrantMismatch, GrantUndecodable } from "@catenet/domain/channels/ChannelErrors"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { Result } from "effect"

/** A member of a channel, or a holder that may become one. */
export interface ChannelPlace {
  readonly channel: ChannelId
  readonly holder: HolderKey
}

export const requireGrantFor = (
  { channel, holder }: ChannelPlace,
  grant: Grant
): Result.Result<void, GrantMismatch | GrantUndecodable> => {
  const read = CryptoGrant.fromHex(grant)
  if (Result.isFailure(read)) return Result.fail(new GrantUndecodable())
  if (Hex.encode(read.success.channel) !== channel) return Result.fail(new GrantMismatch({ part: "channel" }))
  if (Hex.encode(read.success.holder) !== holder) return Result.fail(new GrantMismatch({ part: "holder" }))
  return Result.void
}
