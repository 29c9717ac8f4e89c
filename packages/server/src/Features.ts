/**
 * What the server is made of: services, what they do in the background, and the routes of the API with the services that
 * each takes. A new service or group of routes is a line here, and a migration in `store/migrations/Registry.ts`.
 */
import { ReadsBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import { Context, Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Accounts } from "./accounts/Accounts.ts"
import { AccountHandlers } from "./api/AccountHandlers.ts"
import { AccessTokens } from "./identity/AccessTokens.ts"
import * as AccountAccess from "./identity/AccountAccess.ts"
import * as AdminAccess from "./identity/AdminAccess.ts"
import { KeySet } from "./identity/KeySet.ts"
import { EmailDomains } from "./identity/EmailDomains.ts"
import * as Metered from "./http/Metered.ts"
import * as SameOrigin from "./http/SameOrigin.ts"
import { Admissions } from "./certificates/Admissions.ts"
import { CertificateAuthorities } from "./certificates/CertificateAuthorities.ts"
import { AddressRecords } from "./tunnels/hostnames/AddressRecords.ts"
import * as AddressRecordsWorker from "./tunnels/hostnames/AddressRecordWorker.ts"
import { AdmissionHandlers } from "./api/AdmissionHandlers.ts"
import { AdmissionSweep } from "./certificates/AdmissionSweep.ts"
import * as AdmissionSweepLoop from "./certificates/AdmissionSweepLoop.ts"
import * as AlertWatcher from "./tunnels/alerts/AlertWatcher.ts"
import { Audits } from "./identity/Audits.ts"
import * as AuditRetention from "./identity/AuditRetention.ts"
import { BadgeHandlers } from "./api/BadgeHandlers.ts"
import { Bootstraps } from "./enrollment/Bootstraps.ts"
import { BridgeHandlers } from "./api/BridgeHandlers.ts"
import { Directory } from "./agents/Directory.ts"
import { DirectoryHandlers } from "./api/DirectoryHandlers.ts"
import { Rendezvous } from "./agents/Rendezvous.ts"
import { ChannelAdmissions } from "./channels/ChannelAdmissions.ts"
import { Channels } from "./channels/Channels.ts"
import { ChannelHandlers } from "./api/ChannelHandlers.ts"
import { Members } from "./channels/Members.ts"
import { ChannelRelations } from "./channels/ChannelRelations.ts"
import { AllowLists } from "./channels/AllowLists.ts"
import { ClaimInvites } from "./channels/ClaimInvites.ts"
import { Claims } from "./channels/Claims.ts"
import { ClaimHandlers } from "./api/ClaimHandlers.ts"
import { Credits } from "./billing/Credits.ts"
import { CreditHandlers } from "./api/CreditHandlers.ts"
import { DnsChallenges } from "./certificates/DnsChallenges.ts"
import * as DnsPresence from "./certificates/DnsBrokerRoutes.ts"
import * as DnsProvider from "./dns/ConfiguredDns.ts"
import { EdgeAdmin } from "./edges/EdgeAdmin.ts"
import { Edges } from "./edges/Edges.ts"
import { LiveEdges } from "./edges/LiveEdges.ts"
import { EdgeHandlers } from "./api/EdgeHandlers.ts"
import { AgentKeys } from "./enrollment/AgentKeys.ts"
import { Enrollments } from "./enrollment/Enrollments.ts"
import { EnrollmentHandlers } from "./api/EnrollmentHandlers.ts"
import { ClientAddresses } from "./http/ClientAddresses.ts"
import { HostnameProofs } from "./tunnels/hostnames/HostnameProofs.ts"
import { HostnameRules } from "./tunnels/hostnames/HostnameRules.ts"
import { Resolver } from "./tunnels/hostnames/Resolver.ts"
import { Idempotency } from "./http/Idempotency.ts"
import { RealmAdmin } from "./identity/RealmAdmin.ts"
import { SignIns } from "./identity/SignIns.ts"
import { InvitationHandlers } from "./api/InvitationHandlers.ts"
import { Invitations } from "./channels/Invitations.ts"
import { Limits } from "./http/Limits.ts"
import { Outbox } from "./edges/Outbox.ts"
import * as OutboxWorker from "./edges/OutboxWorker.ts"
import { Payments } from "./billing/Payments.ts"
import { PaymentWebhookHandlers } from "./api/PaymentWebhookHandlers.ts"
import { PortalSignIns } from "./portal/PortalSignIns.ts"
import { PipelineHandlers } from "./api/PipelineHandlers.ts"
import { Pipelines } from "./agents/Pipelines.ts"
import { ProvisioningHandlers } from "./api/ProvisioningHandlers.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import { LoginOrders } from "./tunnels/LoginOrders.ts"
import { Hosts } from "./tunnels/hostnames/Hosts.ts"
import { RecordHandlers } from "./api/RecordHandlers.ts"
import { Rooms } from "./channels/Rooms.ts"
import * as Reseal from "./store/Reseal.ts"
import { ServiceAccountHandlers } from "./api/ServiceAccountHandlers.ts"
import { ServiceAccounts } from "./identity/ServiceAccounts.ts"
import * as ServiceAccountsSweep from "./identity/ServiceAccountCleanup.ts"
import { Sessions } from "./identity/Sessions.ts"
import { StatusHandlers } from "./api/StatusHandlers.ts"
import { Statuses } from "./observability/Statuses.ts"
import { TopologyAuthorizations } from "./channels/TopologyAuthorizations.ts"
import { Assignments } from "./topologies/Assignments.ts"
import { TopologyEditor } from "./topologies/TopologyEditor.ts"
import { TopologyHandlers } from "./api/TopologyHandlers.ts"
import { Suggestions } from "./topologies/Suggestions.ts"
import { Topologies } from "./topologies/Topologies.ts"
import { TunnelControlHandlers } from "./api/TunnelControlHandlers.ts"
import { TunnelHandlers } from "./api/TunnelHandlers.ts"
import { TokenRotations } from "./tunnels/TokenRotations.ts"
import { TunnelSharing } from "./tunnels/TunnelSharing.ts"
import { Tunnels } from "./tunnels/Tunnels.ts"
import * as Cleanup from "./Cleanup.ts"
import { AccessWindows } from "./tunnels/AccessWindows.ts"
import { Alerts } from "./tunnels/alerts/Alerts.ts"
import { AlertDeliveries } from "./tunnels/alerts/AlertDeliveries.ts"
import { Outages } from "./tunnels/alerts/Outages.ts"
import { Badges } from "./tunnels/records/Badges.ts"
import { Bridges } from "./channels/Bridges.ts"
import { Gate } from "./gate/Gate.ts"
import { GateCodes } from "./gate/GateCodes.ts"
import { GateSignIns } from "./gate/GateSignIns.ts"
import { Receipts } from "./tunnels/records/Receipts.ts"
import { EdgeFacts } from "./edges/EdgeFacts.ts"
import { Records } from "./tunnels/records/Records.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"
import { HttpOnly } from "./tunnels/HttpOnly.ts"
import * as Database from "./store/Database.ts"
import { Sealing } from "./store/Sealing.ts"

const channels = Layer.mergeAll(
  AllowLists.layer,
  ClaimInvites.layer.pipe(Layer.provideMerge(Claims.layer)),
  Rooms.layer,
  Invitations.layer,
  ChannelAdmissions.layer.pipe(Layer.provideMerge(TopologyAuthorizations.layer))
).pipe(
  Layer.provideMerge(Members.layer),
  Layer.provideMerge(Channels.layer),
  Layer.provideMerge(ChannelRelations.layer)
)

const topologies = Layer.mergeAll(Topologies.layer, TopologyEditor.layer, Assignments.layer, Suggestions.layer).pipe(
  Layer.provide(ChannelRelations.layer)
)

const controls = Layer.mergeAll(
  AccessWindows.layer,
  HttpOnly.layer,
  Alerts.layer,
  Outages.layer,
  Badges.layer,
  ShareLinks.layer,
  GateSignIns.layer.pipe(Layer.provideMerge(Gate.layer)),
  Records.layer,
  Receipts.layer,
  Bridges.layer.pipe(Layer.provide(channels))
).pipe(Layer.provideMerge(Layer.mergeAll(AlertDeliveries.layer, GateCodes.layer, EdgeFacts.layer)))

/** The services of the areas, each using only what stands below it. */
const areas = Layer.mergeAll(
  Statuses.layer,
  Bootstraps.layer,
  Edges.layer,
  Layer.mergeAll(DnsChallenges.layer, AdmissionSweep.layer).pipe(
    Layer.provideMerge(Admissions.layer),
    Layer.provide(CertificateAuthorities.layer)
  ),
  TunnelSharing.layer,
  TokenRotations.layer,
  controls,
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
  Layer.provideMerge(Layer.mergeAll(Hosts.layer, Enrollments.layer, AgentKeys.layer)),
  Layer.provideMerge(HostnameRules.layer),
  Layer.provideMerge(AddressRecords.layer),
  Layer.provide(DnsProvider.layer),
  Layer.provideMerge(GateSessions.layer),
  Layer.provideMerge(LoginOrders.layer.pipe(Layer.provideMerge(Outbox.layer))),
  Layer.provideMerge(Layer.mergeAll(EdgeAdmin.layer, LiveEdges.layer, Audits.layer, Idempotency.layer, Limits.layer))
)

/** Who calls. */
const callers = Layer.merge(ClientAddresses.layer, EmailDomains.layer).pipe(
  Layer.provideMerge(AccessTokens.layer),
  Layer.provideMerge(KeySet.layer),
  Layer.provideMerge(Sessions.layer)
)

/** All services over the database. What is built twice of them is the same. */
export const services = areas.pipe(
  Layer.provideMerge(callers),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(Sealing.layer)
)

/** What runs without a request. */
export const background = Layer.mergeAll(
  OutboxWorker.layer,
  AddressRecordsWorker.layer,
  AlertWatcher.layer,
  ServiceAccountsSweep.layer,
  AdmissionSweepLoop.layer,
  AuditRetention.layer,
  Reseal.layer,
  Cleanup.layer
).pipe(Layer.provide(services))

/** Who may call, and how requests are read. */
const middleware = Layer.mergeAll(
  AdminAccess.layer,
  AccountAccess.layer,
  SameOrigin.layer,
  Metered.layer,
  DnsPresence.layer.pipe(Layer.provide(DnsProvider.layer)),
  ReadsBody.layer,
  ReadsParameters.layer
).pipe(Layer.provide(services))

/**
 * The groups of the API. For each request the framework copies the services among which a group was built, so each is built
 * among those that it takes and no others (docs/decisions/0016).
 */
export const handlers = Layer.flatMap(services, (all) => {
  const only = <Keys extends ReadonlyArray<Context.Key<unknown, unknown>>>(...keys: Keys) =>
    Layer.succeedContext(Context.pick(...keys)(all))
  return Layer.mergeAll(
    StatusHandlers.pipe(Layer.provide(only(Statuses))),
    EnrollmentHandlers.pipe(Layer.provide(only(Bootstraps, Enrollments))),
    ProvisioningHandlers.pipe(Layer.provide(only(Hosts, Tunnels))),
    AdmissionHandlers.pipe(Layer.provide(only(Admissions, DnsChallenges))),
    TunnelHandlers.pipe(Layer.provide(only(TunnelSharing, TokenRotations, Tunnels))),
    TunnelControlHandlers.pipe(Layer.provide(only(AccessWindows, Alerts, Badges, HttpOnly, ShareLinks))),
    RecordHandlers.pipe(Layer.provide(only(Receipts, Records))),
    BridgeHandlers.pipe(Layer.provide(only(Bridges))),
    BadgeHandlers.pipe(Layer.provide(only(Badges))),
    ChannelHandlers.pipe(Layer.provide(only(AllowLists, Channels, ClaimInvites, Members, Rooms))),
    ClaimHandlers.pipe(Layer.provide(only(ClaimInvites, Claims))),
    InvitationHandlers.pipe(Layer.provide(only(Invitations))),
    CreditHandlers.pipe(Layer.provide(only(Credits, Limits, Payments))),
    PaymentWebhookHandlers.pipe(Layer.provide(only(Payments))),
    AccountHandlers.pipe(Layer.provide(only(Accounts, Audits, Credits, Payments))),
    ServiceAccountHandlers.pipe(Layer.provide(only(ServiceAccounts))),
    TopologyHandlers.pipe(Layer.provide(only(Assignments, TopologyEditor, Suggestions, Topologies))),
    PipelineHandlers.pipe(Layer.provide(only(Pipelines))),
    DirectoryHandlers.pipe(Layer.provide(only(Directory, Rendezvous))),
    EdgeHandlers.pipe(Layer.provide(only(AgentKeys, ChannelAdmissions, Edges, Gate, GateCodes, GateSessions)))
  ).pipe(Layer.provide(middleware))
})
