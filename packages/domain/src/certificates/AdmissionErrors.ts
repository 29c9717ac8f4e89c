/** Refusals of certificate admission and of the DNS-01 broker. */
import { Schema } from "effect"
import { Problem } from "../values/Problem.ts"

/** The routing token is wrong, or is not recorded as owner of the host name; one answer for both. */
export class NotHostnameOwner extends Problem<NotHostnameOwner>()("NotHostnameOwner", {
  status: 403,
  title: "Not the owner of the host name",
  detail: () =>
    "The routing token is not recorded as owner of this host name. Host names are recorded by " +
    "POST /registry/authorize-host; one that was authorized at the edge directly is not."
}) {}

/** No tunnel has this host name. */
export class HostnameUnknown extends Problem<HostnameUnknown>()("HostnameUnknown", {
  status: 404,
  title: "Host name unknown",
  detail: () => "No tunnel has this host name."
}) {}

/** The host name may not order a certificate at present. */
export class NotAdmitted extends Problem<NotAdmitted>()("NotAdmitted", {
  status: 425,
  title: "Not admitted yet",
  detail: () => "This host name has no place to issue a certificate at present; ask the admission route when it has."
}) {}

/** The DNS provider refused or cannot be reached. */
export class DnsProviderFailed extends Problem<DnsProviderFailed>()("DnsProviderFailed", {
  status: 502,
  title: "DNS provider failed",
  detail: () => "The DNS provider did not take the change; try again."
}) {}

/** Too many challenges are waiting for their name servers. */
export class DnsBusy extends Problem<DnsBusy>()(
  "DnsBusy",
  {
    status: 503,
    title: "Too many DNS challenges at once",
    detail: ({ retry_after }) => `Too many DNS challenges are being checked; try again in ${retry_after} s.`
  },
  { retry_after: Schema.Int }
) {}

/** The challenge is published, but not every name server answers it yet. */
export class DnsNotConverged extends Problem<DnsNotConverged>()("DnsNotConverged", {
  status: 504,
  title: "DNS not converged",
  detail: () => "The challenge is published, but not all name servers answered it in time; try again."
}) {}

/** The certificate slot of the tunnel's host name has not lapsed, so there is nothing to queue again. */
export class ClaimNotLapsed extends Problem<ClaimNotLapsed>()("ClaimNotLapsed", {
  status: 409,
  title: "Nothing to reclaim",
  detail: () => "The tunnel's place in the certificate queue has not lapsed."
}) {}

/** A DNS-01 challenge is published only for names that the platform gave or an operator provisioned. */
export class ChallengeNotBrokered extends Problem<ChallengeNotBrokered>()("ChallengeNotBrokered", {
  status: 403,
  title: "Challenge not brokered",
  detail: () => "Challenges are published only for host names that the platform gave or an operator provisioned."
}) {}
