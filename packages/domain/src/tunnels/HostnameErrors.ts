/** Refusals of host names: what no tunnel may have, and what its owner has not proved. */
import { Schema } from "effect"
import { TunnelHostname } from "../values/Hostname.ts"
import { Problem } from "../values/Problem.ts"
import { DnsRecord } from "./HostnameOwnership.ts"

const why = {
  zone: "it is a zone of this platform, or lies above one",
  platform: "it is the platform's own",
  "public-suffix": "names of different people are registered below it",
  "service-label": "its first label is reserved for services of the platform's operator",
  address: "its last label is a number, so that clients read it as an IP address",
  "below-another-host": "it lies below the host name of another tunnel",
  "above-another-host": "a name below it belongs to another tunnel",
  "below-zone": "names below a zone of this platform are given one by one"
} as const

/** No tunnel can have this host name. */
export class HostnameReserved extends Problem<HostnameReserved>()(
  "HostnameReserved",
  {
    status: 409,
    title: "Host name reserved",
    detail: ({ hostname, reason }) => `The host name ${hostname} cannot be used for a tunnel: ${why[reason]}.`
  },
  {
    hostname: TunnelHostname,
    reason: Schema.Literals([
      "zone",
      "platform",
      "public-suffix",
      "service-label",
      "address",
      "below-another-host",
      "above-another-host",
      "below-zone"
    ])
  }
) {}

/** DNS has no record that proves the host name. */
export class HostnameNotProved extends Problem<HostnameNotProved>()(
  "HostnameNotProved",
  {
    status: 409,
    title: "Host name not proved",
    detail: ({ hostname }) => `DNS has no record that proves ${hostname}; add one of \`records\`.`
  },
  { hostname: TunnelHostname, records: Schema.Array(DnsRecord) }
) {}

/** The tunnel has no host name that must be proved: it has none, or the platform or an operator assigned it. */
export class NoHostnameToVerify extends Problem<NoHostnameToVerify>()("NoHostnameToVerify", {
  status: 409,
  title: "No host name to verify",
  detail: () => "This tunnel has no host name of its own that needs proof."
}) {}

/** The tunnel has a host name that its owner proved or an operator assigned. */
export class HostnameHeld extends Problem<HostnameHeld>()(
  "HostnameHeld",
  {
    status: 409,
    title: "Host name held",
    detail: ({ hostname }) => `This tunnel has the host name ${hostname}; give that up first, or create another tunnel.`
  },
  { hostname: TunnelHostname }
) {}

/** The resolver did not answer, so the proof could not be checked. */
export class DnsUnanswered extends Problem<DnsUnanswered>()("DnsUnanswered", {
  status: 502,
  title: "DNS did not answer",
  detail: () => "The records of this host name could not be looked up; try again."
}) {}

/** The routing token was revoked with its tunnel; no host name can use it. */
export class RoutingTokenRevoked extends Problem<RoutingTokenRevoked>()("RoutingTokenRevoked", {
  status: 409,
  title: "Routing token revoked",
  detail: () => "The routing token was revoked; no host name can be bound to it."
}) {}

/** Another tunnel has this host name. */
export class HostnameTaken extends Problem<HostnameTaken>()(
  "HostnameTaken",
  {
    status: 409,
    title: "Host name taken",
    detail: ({ hostname }) => `The host name ${hostname} belongs to another tunnel.`
  },
  { hostname: TunnelHostname }
) {}
