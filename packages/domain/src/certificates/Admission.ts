/** Certificate admission of a host name, as an agent asks for it. */
import { Schema } from "effect"
import { TunnelStatus } from "../tunnels/Tunnel.ts"
import { UnixSeconds } from "../values/Numbers.ts"

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
