/** All services of the control plane, by area. A new service is a line in the group of its area. */
import { Layer } from "effect"
import { Accounts } from "./accounts/Accounts.ts"
import { Directory } from "./agents/Directory.ts"
import { Pipelines } from "./agents/Pipelines.ts"
import { RendezvousRecords } from "./agents/RendezvousRecords.ts"
import { Credits } from "./billing/Credits.ts"
import { Payments } from "./billing/Payments.ts"
import { Admissions } from "./certificates/Admissions.ts"
import { AdmissionSweep } from "./certificates/AdmissionSweep.ts"
import { CertificateQueue } from "./certificates/CertificateQueue.ts"
import { CertificateStandings } from "./certificates/CertificateStandings.ts"
import { DnsChallenges } from "./certificates/DnsChallenges.ts"
import { PlatformCertificates } from "./certificates/PlatformCertificates.ts"
import { AllowLists } from "./channels/AllowLists.ts"
import { Bridges } from "./channels/Bridges.ts"
import { ChannelAdmissions } from "./channels/ChannelAdmissions.ts"
import { Channels } from "./channels/Channels.ts"
import { ClaimInvites } from "./channels/ClaimInvites.ts"
import { Claims } from "./channels/Claims.ts"
import { Invitations } from "./channels/Invitations.ts"
import { Members } from "./channels/Members.ts"
import { Rooms } from "./channels/Rooms.ts"
import { EdgeFacts } from "./edges/EdgeFacts.ts"
import { EdgeHealth } from "./edges/EdgeHealth.ts"
import { Edges } from "./edges/Edges.ts"
import { LiveEdges } from "./edges/LiveEdges.ts"
import { Outbox } from "./edges/Outbox.ts"
import { RefusedOrders } from "./edges/RefusedOrders.ts"
import { TicketKeys } from "./edges/TicketKeys.ts"
import { AgentKeys } from "./enrollment/AgentKeys.ts"
import { AgentProofs } from "./enrollment/AgentProofs.ts"
import { Bootstraps } from "./enrollment/Bootstraps.ts"
import { Enrollments } from "./enrollment/Enrollments.ts"
import { Gate } from "./gate/Gate.ts"
import { GateCallers } from "./gate/GateCallers.ts"
import { GateCodes } from "./gate/GateCodes.ts"
import { GateSignIns } from "./gate/GateSignIns.ts"
import { TunnelPolicies } from "./gate/TunnelPolicies.ts"
import { ClientAddresses } from "./http/ClientAddresses.ts"
import { Idempotency } from "./http/Idempotency.ts"
import { Limits } from "./http/Limits.ts"
import { AccessTokens } from "./identity/AccessTokens.ts"
import { AccountEvents } from "./identity/AccountEvents.ts"
import { Audits } from "./identity/Audits.ts"
import { EmailDomains } from "./identity/EmailDomains.ts"
import { KeySet } from "./identity/KeySet.ts"
import { RealmAdmin } from "./identity/RealmAdmin.ts"
import { ServiceAccounts } from "./identity/ServiceAccounts.ts"
import { Sessions } from "./identity/Sessions.ts"
import { SignIns } from "./identity/SignIns.ts"
import { NoticeMails } from "./notices/mail/NoticeMails.ts"
import { Notices } from "./notices/Notices.ts"
import { EdgeQuic } from "./observability/EdgeQuic.ts"
import { Statuses } from "./observability/Statuses.ts"
import { PortalSignIns } from "./portal/PortalSignIns.ts"
import { Releases } from "./releases/Releases.ts"
import { Assignments } from "./topologies/Assignments.ts"
import { Suggestions } from "./topologies/Suggestions.ts"
import { Topologies } from "./topologies/Topologies.ts"
import { TopologyEditor } from "./topologies/TopologyEditor.ts"
import { TopologySummaries } from "./topologies/TopologySummaries.ts"
import { AccessWindows } from "./tunnels/AccessWindows.ts"
import { AlertDeliveries } from "./tunnels/alerts/AlertDeliveries.ts"
import { Alerts } from "./tunnels/alerts/Alerts.ts"
import { Outages } from "./tunnels/alerts/Outages.ts"
import { TunnelWatches } from "./tunnels/alerts/TunnelWatches.ts"
import { CertificateOptOuts } from "./tunnels/CertificateOptOuts.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import { AddressRecords } from "./tunnels/hostnames/AddressRecords.ts"
import { HostnameProofs } from "./tunnels/hostnames/HostnameProofs.ts"
import { Hosts } from "./tunnels/hostnames/Hosts.ts"
import { Badges } from "./tunnels/records/Badges.ts"
import { Receipts } from "./tunnels/records/Receipts.ts"
import { Records } from "./tunnels/records/Records.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"
import { TokenRotations } from "./tunnels/TokenRotations.ts"
import { TunnelRules } from "./tunnels/TunnelRules.ts"
import { Tunnels } from "./tunnels/Tunnels.ts"
import { TunnelSharing } from "./tunnels/TunnelSharing.ts"

/** Tokens, sessions, sign-ins, service accounts and the audit log. */
const identity = Layer.mergeAll(
  AccessTokens.layer,
  AccountEvents.layer,
  Audits.layer,
  EmailDomains.layer,
  KeySet.layer,
  RealmAdmin.layer,
  ServiceAccounts.layer,
  Sessions.layer,
  SignIns.layer
)

/** Credits and the payments that buy them. */
const billing = Layer.mergeAll(Credits.layer, Payments.layer)

/** Edge servers: which are live, what they report, and the orders sent to them. */
const edges = Layer.mergeAll(
  EdgeFacts.layer,
  EdgeHealth.layer,
  Edges.layer,
  LiveEdges.layer,
  Outbox.layer,
  TicketKeys.layer,
  RefusedOrders.layer
)

/** Join tokens, bootstrap tokens, and the keys that may serve a tunnel. */
const enrollment = Layer.mergeAll(AgentKeys.layer, AgentProofs.layer, Bootstraps.layer, Enrollments.layer)

/** Tunnels with their options, share links and visitor sessions. */
const tunnels = Layer.mergeAll(
  AccessWindows.layer,
  TunnelRules.layer,
  CertificateOptOuts.layer,
  GateSessions.layer,
  ShareLinks.layer,
  TokenRotations.layer,
  TunnelSharing.layer,
  Tunnels.layer
)

/** Tunnel alerts: outage checks and deliveries. */
const alerts = Layer.mergeAll(AlertDeliveries.layer, Alerts.layer, Outages.layer, TunnelWatches.layer)

/** Host names: ownership, its proof, and address records. */
const hostnames = Layer.mergeAll(AddressRecords.layer, HostnameProofs.layer, Hosts.layer)

/** What is recorded about a tunnel, for its owner and for others. */
const records = Layer.mergeAll(Badges.layer, Receipts.layer, Records.layer)

/** Certificate admission, DNS-01 challenges, and the certificates of the platform itself. */
const certificates = Layer.mergeAll(
  Admissions.layer,
  AdmissionSweep.layer,
  CertificateQueue.layer,
  CertificateStandings.layer,
  DnsChallenges.layer,
  PlatformCertificates.layer
)

/** Channels with their members, rooms, invitations, claims and bridges. */
const channels = Layer.mergeAll(
  AllowLists.layer,
  Bridges.layer,
  ChannelAdmissions.layer,
  Channels.layer,
  ClaimInvites.layer,
  Claims.layer,
  Invitations.layer,
  Members.layer,
  Rooms.layer
)

/** Topologies, their editor, and the assignments of agents. */
const topologies = Layer.mergeAll(
  Assignments.layer,
  Suggestions.layer,
  Topologies.layer,
  TopologyEditor.layer,
  TopologySummaries.layer
)

/** The directory of agents, and published pipelines. */
const agents = Layer.mergeAll(Directory.layer, Pipelines.layer, RendezvousRecords.layer)

/** The login gate of tunnels: who may pass, and how visitors sign in. */
const gate = Layer.mergeAll(Gate.layer, GateCallers.layer, GateCodes.layer, GateSignIns.layer, TunnelPolicies.layer)

/** Each service is built once, wherever it is named, and provides the services it uses. */
export const layer = Layer.mergeAll(
  identity,
  billing,
  edges,
  enrollment,
  tunnels,
  alerts,
  hostnames,
  records,
  certificates,
  channels,
  topologies,
  agents,
  gate,
  Accounts.layer,
  EdgeQuic.layer,
  Notices.layer,
  NoticeMails.layer,
  ClientAddresses.layer,
  Idempotency.layer,
  Limits.layer,
  PortalSignIns.layer,
  Releases.layer,
  Statuses.layer
)
