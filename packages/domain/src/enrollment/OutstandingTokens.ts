/**
 * One-time tokens that are not redeemed, as operators see them: by the hash under which each is kept, never by the
 * token itself.
 */
import { Schema } from "effect"
import { Hex64 } from "../values/Hex.ts"
import { TunnelId } from "../values/Ids.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { Tenant } from "./Agent.ts"

/** A join token. `tunnel` is null when it is good for any tunnel of the tenant. */
export class OutstandingJoinToken extends Schema.Class<OutstandingJoinToken>("OutstandingJoinToken")({
  token_hash: Hex64,
  tenant: Tenant,
  tunnel: Schema.NullOr(TunnelId),
  created_at: UnixSeconds
}) {}

/** A bootstrap token that has not expired; of its secret nothing is shown. */
export class OutstandingBootstrapToken extends Schema.Class<OutstandingBootstrapToken>("OutstandingBootstrapToken")({
  token_hash: Hex64,
  created_at: UnixSeconds,
  expires_at: UnixSeconds
}) {}
