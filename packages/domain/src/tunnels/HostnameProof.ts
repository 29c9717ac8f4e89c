/** The proof of a host name that an owner brought to a tunnel: what is to be in DNS, and whether it was there. */
import { Schema } from "effect"
import { Hostname } from "../values/Hostname.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { literal } from "../values/Pattern.ts"

/** A record as it is written into DNS. */
export class DnsRecord extends Schema.Class<DnsRecord>("DnsRecord")({
  type: literal(["TXT", "CNAME"]),
  name: Schema.String,
  value: Schema.String
}) {}

/** One of the records proves the name. While it is pending, the tunnel does not have the name. */
export class HostnameProof extends Schema.Class<HostnameProof>("HostnameProof")({
  hostname: Hostname,
  state: literal(["pending", "proved"]),
  checked_at: Schema.NullOr(UnixSeconds),
  records: Schema.Array(DnsRecord)
}) {}
