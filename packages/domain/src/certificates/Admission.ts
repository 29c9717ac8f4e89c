/** Certificate admission of a host name, as an agent asks for it. */
import { Schema } from "effect"
import { UnixSeconds } from "../values/Numbers.ts"

/**
 * `rot`: not served. `gelb`: served by the edge with a shared certificate, waiting for its own. `gruen`: the agent holds
 * its own certificate and the edge passes TLS through.
 */
export const TunnelStatus = Schema.Literals(["rot", "gelb", "gruen"])
export type TunnelStatus = typeof TunnelStatus.Type

/** Whether the edge terminates TLS for a host name (`gelb`) or passes it through. */
export const Tier = Schema.Literals(["gelb", "passthrough"])
export type Tier = typeof Tier.Type

/** Where an admitted agent orders its certificate. */
export class CertificateAuthority extends Schema.Class<CertificateAuthority>("CertificateAuthority")({
  name: Schema.String,
  directory_url: Schema.String,
  requires_eab: Schema.Boolean,
  eab_kid: Schema.NullOr(Schema.String),
  eab_hmac_key_b64url: Schema.NullOr(Schema.String)
}) {}

/** The answer of `GET /agent/acme-admission/...`. */
export class Admission extends Schema.Class<Admission>("Admission")({
  status: TunnelStatus,
  may_issue_now: Schema.Boolean,
  assigned_ca: Schema.NullOr(CertificateAuthority),
  claim_deadline: Schema.NullOr(UnixSeconds)
}) {}
