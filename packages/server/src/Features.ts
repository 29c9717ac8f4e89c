/**
 * The registry of features: what each contributes to the API and to the background. A feature is a folder; adding one
 * is a line here, and a migration in `store/migrations/Registry.ts`.
 */
import { ReadsBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import { Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Accounts } from "./accounts/Accounts.ts"
import * as AccountsHttp from "./api/AccountHandlers.ts"
import { AccessTokens } from "./identity/AccessTokens.ts"
import * as AccountAccess from "./identity/AccountAccess.ts"
import * as AdminAccess from "./identity/AdminAccess.ts"
import { KeySet } from "./identity/KeySet.ts"
import { EmailDomains } from "./identity/EmailDomains.ts"
import * as Metered from "./http/Metered.ts"
import * as SameOrigin from "./http/SameOrigin.ts"
import { Admissions } from "./certificates/Admissions.ts"
import { Authorities } from "./certificates/CertificateAuthorities.ts"
import { AddressRecords } from "./tunnels/hostnames/AddressRecords.ts"
import * as AddressRecordsWorker from "./tunnels/hostnames/AddressRecordWorker.ts"
import * as AdmissionHttp from "./api/AdmissionHandlers.ts"
import { Sweep } from "./certificates/AdmissionSweep.ts"
import * as AdmissionSweep from "./certificates/AdmissionSweepLoop.ts"
import * as AlertWatcher from "./tunnels/alerts/AlertWatcher.ts"
import { Audits } from "./identity/Audits.ts"
import * as AuditRetention from "./identity/AuditRetention.ts"
import * as BadgesHttp from "./api/BadgeHandlers.ts"
import { Bootstraps } from "./enrollment/Bootstraps.ts"
import * as BridgeHttp from "./api/BridgeHandlers.ts"
import { Directory } from "./agents/Directory.ts"
import * as DirectoryHttp from "./api/DirectoryHandlers.ts"
import { Rendezvous } from "./agents/Rendezvous.ts"
import { ChannelAdmissions } from "./channels/ChannelAdmissions.ts"
import { Channels } from "./channels/Channels.ts"
import * as ChannelsHttp from "./api/ChannelHandlers.ts"
import { Members } from "./channels/Members.ts"
import { ChannelRelations } from "./channels/Relations.ts"
import { AllowLists } from "./channels/AllowLists.ts"
import { ClaimInvites } from "./channels/ClaimInvites.ts"
import { Claims } from "./channels/Claims.ts"
import * as ClaimsHttp from "./api/ClaimHandlers.ts"
import { Credits } from "./billing/Credits.ts"
import * as CreditsHttp from "./api/CreditHandlers.ts"
import { Challenges } from "./certificates/DnsChallenges.ts"
import * as DnsPresence from "./certificates/DnsBrokerRoutes.ts"
import * as DnsProvider from "./dns/ConfiguredDns.ts"
import { EdgeAdmin } from "./edges/EdgeAdmin.ts"
import { Edges } from "./edges/Edges.ts"
import * as EdgesHttp from "./api/EdgeHandlers.ts"
import { AgentKeys } from "./enrollment/AgentKeys.ts"
import { Enrolments } from "./enrollment/Enrollments.ts"
import * as EnrolmentHttp from "./api/EnrollmentHandlers.ts"
import { ClientAddresses } from "./http/ClientAddresses.ts"
import * as Housekeeping from "./Cleanup.ts"
import { HostnameProofs } from "./tunnels/hostnames/HostnameProofs.ts"
import { HostnameRules } from "./tunnels/hostnames/HostnameRules.ts"
import { Resolver } from "./tunnels/hostnames/Resolver.ts"
import { Idempotency } from "./http/Idempotency.ts"
import { RealmAdmin } from "./identity/RealmAdmin.ts"
import { SignIns } from "./identity/SignIns.ts"
import * as InvitationsHttp from "./api/InvitationHandlers.ts"
import { Invitations } from "./channels/Invitations.ts"
import { Limits } from "./http/Limits.ts"
import { Outbox } from "./edges/Outbox.ts"
import * as OutboxWorker from "./edges/OutboxWorker.ts"
import { Payments } from "./billing/Payments.ts"
import * as PaymentsWebhook from "./api/PaymentWebhookHandlers.ts"
import { PortalSignIns } from "./portal/PortalSignIns.ts"
import * as PipelinesHttp from "./api/PipelineHandlers.ts"
import { Pipelines } from "./agents/Pipelines.ts"
import * as ProvisioningHttp from "./api/ProvisioningHandlers.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import { LoginOrders } from "./tunnels/LoginOrders.ts"
import { Hosts } from "./tunnels/hostnames/Hosts.ts"
import * as TunnelRecordsHttp from "./api/RecordHandlers.ts"
import { Rooms } from "./channels/Rooms.ts"
import * as Reseal from "./store/Reseal.ts"
import * as ServiceAccountsHttp from "./api/ServiceAccountHandlers.ts"
import { ServiceAccounts } from "./identity/ServiceAccounts.ts"
import * as ServiceAccountsSweep from "./identity/ServiceAccountCleanup.ts"
import { Sessions } from "./identity/Sessions.ts"
import * as StatusHttp from "./api/StatusHandlers.ts"
import { Statuses } from "./observability/Statuses.ts"
import { TopologyAuthorisations } from "./channels/TopologyAuthorizations.ts"
import { Assignments } from "./topologies/Assignments.ts"
import { Drawings } from "./topologies/TopologyEditor.ts"
import * as TopologiesHttp from "./api/TopologyHandlers.ts"
import { Suggestions } from "./topologies/Suggestions.ts"
import { Topologies } from "./topologies/Topologies.ts"
import * as TunnelControls from "./TunnelServices.ts"
import * as TunnelControlsSweep from "./TunnelCleanup.ts"
import * as TunnelControlsHttp from "./api/TunnelControlHandlers.ts"
import * as TunnelsHttp from "./api/TunnelHandlers.ts"
import { TokenRotations } from "./tunnels/TokenRotations.ts"
import { Sharing } from "./tunnels/TunnelSharing.ts"
import { Tunnels } from "./tunnels/Tunnels.ts"

/** One line for each group of the API. */
const handlers = Layer.mergeAll(
  StatusHttp.layer,
  EnrolmentHttp.layer,
  ProvisioningHttp.layer,
  AdmissionHttp.layer,
  TunnelsHttp.layer,
  TunnelControlsHttp.layer,
  TunnelRecordsHttp.layer,
  BridgeHttp.layer,
  BadgesHttp.layer,
  ChannelsHttp.layer,
  ClaimsHttp.layer,
  InvitationsHttp.layer,
  CreditsHttp.layer,
  PaymentsWebhook.layer,
  AccountsHttp.layer,
  ServiceAccountsHttp.layer,
  TopologiesHttp.layer,
  PipelinesHttp.layer,
  DirectoryHttp.layer,
  EdgesHttp.layer
)

/** What runs without being asked. */
const background = Layer.mergeAll(
  OutboxWorker.layer,
  AddressRecordsWorker.layer,
  AlertWatcher.layer,
  TunnelControlsSweep.layer,
  ServiceAccountsSweep.layer,
  AdmissionSweep.layer,
  AuditRetention.layer,
  Reseal.layer,
  Housekeeping.layer
)

const channels = Layer.mergeAll(
  AllowLists.layer,
  ClaimInvites.layer.pipe(Layer.provideMerge(Claims.layer)),
  Rooms.layer,
  Invitations.layer,
  ChannelAdmissions.layer.pipe(Layer.provideMerge(TopologyAuthorisations.layer))
).pipe(
  Layer.provideMerge(Members.layer),
  Layer.provideMerge(Channels.layer),
  Layer.provideMerge(ChannelRelations.layer)
)

const topologies = Layer.mergeAll(Topologies.layer, Drawings.layer, Assignments.layer, Suggestions.layer).pipe(
  Layer.provide(ChannelRelations.layer)
)

/** Services of the features, each using only what stands below it. */
const services = Layer.mergeAll(
  Statuses.layer,
  Bootstraps.layer,
  Edges.layer,
  Layer.mergeAll(Challenges.layer, Sweep.layer).pipe(
    Layer.provideMerge(Admissions.layer),
    Layer.provide(Authorities.layer)
  ),
  Sharing.layer,
  TokenRotations.layer,
  TunnelControls.layer,
  Credits.layer,
  Payments.layer,
  Accounts.layer.pipe(Layer.provide(topologies)),
  channels,
  topologies,
  Pipelines.layer,
  Directory.layer,
  Rendezvous.layer,
  PortalSignIns.layer
).pipe(
  Layer.provide(SignIns.layer),
  Layer.provideMerge(Tunnels.layer),
  Layer.provideMerge(ServiceAccounts.layer.pipe(Layer.provide(RealmAdmin.layer))),
  Layer.provideMerge(HostnameProofs.layer.pipe(Layer.provide(Resolver.layer))),
  Layer.provideMerge(Layer.mergeAll(Hosts.layer, Enrolments.layer, AgentKeys.layer)),
  Layer.provideMerge(HostnameRules.layer),
  Layer.provideMerge(AddressRecords.layer),
  Layer.provide(DnsProvider.layer),
  Layer.provideMerge(GateSessions.layer),
  Layer.provideMerge(LoginOrders.layer.pipe(Layer.provideMerge(Outbox.layer))),
  Layer.provideMerge(Layer.mergeAll(EdgeAdmin.layer, Audits.layer, Idempotency.layer, Limits.layer))
)

/** Who may call, and how requests are read. */
const access = Layer.mergeAll(
  AdminAccess.layer,
  AccountAccess.layer,
  SameOrigin.layer,
  Metered.layer,
  DnsPresence.layer.pipe(Layer.provide(DnsProvider.layer)),
  ReadsBody.layer,
  ReadsParameters.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(ClientAddresses.layer, EmailDomains.layer)),
  Layer.provideMerge(AccessTokens.layer),
  Layer.provideMerge(KeySet.layer),
  Layer.provideMerge(Sessions.layer)
)

/** All features, wanting a database and settings. */
export const layer = Layer.merge(handlers, background).pipe(
  Layer.provideMerge(services),
  Layer.provideMerge(access),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)
