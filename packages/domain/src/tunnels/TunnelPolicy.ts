/** What the owner of a tunnel demands of its visitors, as an agent enforces it that ends their TLS. */
import { Schema } from "effect"
import { AccessPolicy } from "../edges/AccessPolicy.ts"
import { TunnelOptions } from "../edges/TunnelOptions.ts"
import { StoredRules } from "../rules/Rules.ts"
import { PublicKey } from "../values/Keys.ts"
import { Count } from "../values/Numbers.ts"

export class TunnelPolicy extends Schema.Class<TunnelPolicy>("TunnelPolicy")({
  /** Grows with each change. */
  revision: Count,
  require_login: Schema.Boolean,
  /** Where visitors sign in; null where that is not possible. */
  sign_in: Schema.NullOr(Schema.String),
  /** Grows when visitors may have lost their right to pass: each of them is to be asked about again. */
  share_epoch: Count,
  access: Schema.NullOr(AccessPolicy),
  options: TunnelOptions,
  /** Absent where there are none. */
  rules: Schema.optionalKey(StoredRules),
  /** The public keys of all agents and edges that sign assertions about visitors of the tunnel. */
  assertion_keys: Schema.optionalKey(Schema.Array(PublicKey))
}) {}
