/** Refusals of certificate admission and of the DNS-01 broker. */
import { Schema } from "effect"
import { DnsRecord } from "../tunnels/HostnameOwnership.ts"
import { Problem } from "../values/Problem.ts"

/** The routing token is wrong or does not own the host name; the response does not distinguish the two. */
export class NotHostnameOwner extends Problem<NotHostnameOwner>()("NotHostnameOwner", {
  status: 403,
  title: "Not the owner of the host name",
  detail: () =>
    "The routing token is not recorded as owner of this host name. Host names are recorded by " +
    "POST /registry/authorize-host; those authorized directly at the edge are not."
}) {}

/** The agents of the tunnel must prove an enrolled key, and the request contains no such proof. */
export class AgentProofRequired extends Problem<AgentProofRequired>()(
  "AgentProofRequired",
  {
    status: 403,
    title: "Proof of an enrolled key required",
    detail: ({ reason }) =>
      "The agents of this tunnel have to prove an enrolled key, so this call needs the header Catenet-Agent-Proof. " +
      {
        missing: "It is missing. Run the newest version of an agent that is enrolled for the tunnel.",
        "not-enrolled": "Its key is not enrolled for the tunnel. Enroll the agent with a fresh join token.",
        stale: "Its time differs too much from this server's time. Correct the clock of the agent's machine.",
        invalid: "It does not match this request."
      }[reason]
  },
  { reason: Schema.Literals(["missing", "not-enrolled", "stale", "invalid"]) }
) {}

/** The tunnel requires a login or HTTP only, which not every agent of the tunnel enforces for an end-to-end (gruen) name. */
export class HostnameGuarded extends Problem<HostnameGuarded>()("HostnameGuarded", {
  status: 409,
  title: "Visitors are restricted",
  detail: () =>
    "Visitors of this host name have to log in, or may use HTTP only, and not every agent of the tunnel enforces that. Run the " +
    "newest agent with CT_AGENT_ORIGIN_TLS=terminate everywhere, or switch the restriction off in the portal; the certificate " +
    "is kept until then."
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
  detail: () => "This host name may not issue a certificate yet; poll the admission route until it may."
}) {}

/** The DNS provider refused the change or is unreachable. */
export class DnsProviderFailed extends Problem<DnsProviderFailed>()("DnsProviderFailed", {
  status: 502,
  title: "DNS provider failed",
  detail: () => "The DNS provider did not accept the change; try again."
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

/** The challenge is published, but not every name server returns it yet. */
export class DnsNotConverged extends Problem<DnsNotConverged>()("DnsNotConverged", {
  status: 504,
  title: "DNS not converged",
  detail: () => "The challenge is published, but not all name servers returned it in time; try again."
}) {}

/** The certificate claim of the tunnel's host name has not lapsed, so it cannot be queued again. */
export class ClaimNotLapsed extends Problem<ClaimNotLapsed>()("ClaimNotLapsed", {
  status: 409,
  title: "Nothing to reclaim",
  detail: () => "The tunnel's place in the certificate queue has not lapsed."
}) {}

/** DNS does not let the platform answer for the certificates of a wildcard. */
export class ChallengeNotDelegated extends Problem<ChallengeNotDelegated>()(
  "ChallengeNotDelegated",
  {
    status: 409,
    title: "Challenge not delegated",
    detail: ({ record: { name, type, value } }) =>
      `Only DNS can prove a wildcard to an authority. Let the control plane publish the proof: add the record ${name} ${type} ${value}`
  },
  { record: DnsRecord }
) {}

/** A DNS-01 challenge is published only for names that the platform or an operator assigned. */
export class ChallengeNotBrokered extends Problem<ChallengeNotBrokered>()("ChallengeNotBrokered", {
  status: 403,
  title: "Challenge not brokered",
  detail: () => "Challenges are published only for host names that the platform gave or an operator provisioned."
}) {}
