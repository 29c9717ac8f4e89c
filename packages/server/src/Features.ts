/**
 * What the server is made of: services, what they do in the background, and the routes of the API with the services that
 * each takes. A new service is a line in the file of its area, a new group of routes a line here, a migration one in
 * `store/migrations/Registry.ts`.
 */
import type * as Access from "@catenet/domain/api/Access"
import { ReadsBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import type { PgClient } from "@effect/sql-pg"
import { Context, Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import type { SqlClient } from "effect/sql"
import { Accounts } from "./accounts/Accounts.ts"
import * as AgentServices from "./agents/AgentServices.ts"
import { Directory } from "./agents/Directory.ts"
import { Pipelines } from "./agents/Pipelines.ts"
import { RendezvousRecords } from "./agents/RendezvousRecords.ts"
import { AccountHandlers } from "./api/AccountHandlers.ts"
import { AdmissionHandlers } from "./api/AdmissionHandlers.ts"
import { BadgeHandlers } from "./api/BadgeHandlers.ts"
import { BridgeHandlers } from "./api/BridgeHandlers.ts"
import { ChannelHandlers } from "./api/ChannelHandlers.ts"
import { ClaimHandlers } from "./api/ClaimHandlers.ts"
import { CreditHandlers } from "./api/CreditHandlers.ts"
import { DirectoryHandlers } from "./api/DirectoryHandlers.ts"
import { EdgeHandlers } from "./api/EdgeHandlers.ts"
import { EnrollmentHandlers } from "./api/EnrollmentHandlers.ts"
import { InvitationHandlers } from "./api/InvitationHandlers.ts"
import { PaymentWebhookHandlers } from "./api/PaymentWebhookHandlers.ts"
import { PipelineHandlers } from "./api/PipelineHandlers.ts"
import { ProvisioningHandlers } from "./api/ProvisioningHandlers.ts"
import { RecordHandlers } from "./api/RecordHandlers.ts"
import { ServiceAccountHandlers } from "./api/ServiceAccountHandlers.ts"
import { StatusHandlers } from "./api/StatusHandlers.ts"
import { TopologyHandlers } from "./api/TopologyHandlers.ts"
import { TunnelControlHandlers } from "./api/TunnelControlHandlers.ts"
import { TunnelHandlers } from "./api/TunnelHandlers.ts"
import * as BillingServices from "./billing/BillingServices.ts"
import { Credits } from "./billing/Credits.ts"
import { Payments } from "./billing/Payments.ts"
import { Admissions } from "./certificates/Admissions.ts"
import * as AdmissionSweepLoop from "./certificates/AdmissionSweepLoop.ts"
import * as CertificateServices from "./certificates/CertificateServices.ts"
import { CertificateStandings } from "./certificates/CertificateStandings.ts"
import * as DnsBrokerRoutes from "./certificates/DnsBrokerRoutes.ts"
import { DnsChallenges } from "./certificates/DnsChallenges.ts"
import { AllowLists } from "./channels/AllowLists.ts"
import { Bridges } from "./channels/Bridges.ts"
import { ChannelAdmissions } from "./channels/ChannelAdmissions.ts"
import { Channels } from "./channels/Channels.ts"
import * as ChannelServices from "./channels/ChannelServices.ts"
import { ClaimInvites } from "./channels/ClaimInvites.ts"
import { Claims } from "./channels/Claims.ts"
import * as GrantExpiries from "./channels/GrantExpiries.ts"
import { Invitations } from "./channels/Invitations.ts"
import { Members } from "./channels/Members.ts"
import { Rooms } from "./channels/Rooms.ts"
import * as Cleanup from "./Cleanup.ts"
import * as EdgeComparisonLoop from "./edges/EdgeComparisonLoop.ts"
import { Edges } from "./edges/Edges.ts"
import * as EdgeServices from "./edges/EdgeServices.ts"
import * as OutboxWorker from "./edges/OutboxWorker.ts"
import { TicketKeys } from "./edges/TicketKeys.ts"
import { AgentKeys } from "./enrollment/AgentKeys.ts"
import { AgentProofs } from "./enrollment/AgentProofs.ts"
import { Bootstraps } from "./enrollment/Bootstraps.ts"
import { Enrollments } from "./enrollment/Enrollments.ts"
import * as EnrollmentServices from "./enrollment/EnrollmentServices.ts"
import { Gate } from "./gate/Gate.ts"
import { GateCodes } from "./gate/GateCodes.ts"
import * as GateServices from "./gate/GateServices.ts"
import { ClientAddresses } from "./http/ClientAddresses.ts"
import { Idempotency } from "./http/Idempotency.ts"
import { Limits } from "./http/Limits.ts"
import * as RateLimit from "./http/RateLimit.ts"
import * as SameOrigin from "./http/SameOrigin.ts"
import * as AdminAccess from "./identity/AdminAccess.ts"
import * as AuditRetention from "./identity/AuditRetention.ts"
import { Audits } from "./identity/Audits.ts"
import * as IdentityServices from "./identity/IdentityServices.ts"
import * as ServiceAccountCleanup from "./identity/ServiceAccountCleanup.ts"
import { ServiceAccounts } from "./identity/ServiceAccounts.ts"
import { NoticeMails } from "./notices/mail/NoticeMails.ts"
import * as NoticeMailWorker from "./notices/mail/NoticeMailWorker.ts"
import { Notices } from "./notices/Notices.ts"
import { EdgeQuic } from "./observability/EdgeQuic.ts"
import { Statuses } from "./observability/Statuses.ts"
import { PortalSignIns } from "./portal/PortalSignIns.ts"
import { Releases } from "./releases/Releases.ts"
import * as Reseal from "./store/Reseal.ts"
import { Sealing } from "./store/Sealing.ts"
import { Assignments } from "./topologies/Assignments.ts"
import { Suggestions } from "./topologies/Suggestions.ts"
import { Topologies } from "./topologies/Topologies.ts"
import { TopologyEditor } from "./topologies/TopologyEditor.ts"
import * as TopologyServices from "./topologies/TopologyServices.ts"
import { AccessWindows } from "./tunnels/AccessWindows.ts"
import { Alerts } from "./tunnels/alerts/Alerts.ts"
import * as AlertServices from "./tunnels/alerts/AlertServices.ts"
import * as AlertWatcher from "./tunnels/alerts/AlertWatcher.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import * as AddressRecordWorker from "./tunnels/hostnames/AddressRecordWorker.ts"
import * as HostnameServices from "./tunnels/hostnames/HostnameServices.ts"
import { Hosts } from "./tunnels/hostnames/Hosts.ts"
import { HttpOnly } from "./tunnels/HttpOnly.ts"
import { Badges } from "./tunnels/records/Badges.ts"
import { Receipts } from "./tunnels/records/Receipts.ts"
import { Records } from "./tunnels/records/Records.ts"
import * as RecordServices from "./tunnels/records/RecordServices.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"
import { TokenRotations } from "./tunnels/TokenRotations.ts"
import { Tunnels } from "./tunnels/Tunnels.ts"
import * as TunnelServices from "./tunnels/TunnelServices.ts"
import { TunnelSharing } from "./tunnels/TunnelSharing.ts"

/** All services. Each is built once, wherever it is named, and brings the others that it uses. */
const all = Layer.mergeAll(
  IdentityServices.layer,
  BillingServices.layer,
  EdgeServices.layer,
  EnrollmentServices.layer,
  TunnelServices.layer,
  AlertServices.layer,
  HostnameServices.layer,
  RecordServices.layer,
  CertificateServices.layer,
  ChannelServices.layer,
  TopologyServices.layer,
  AgentServices.layer,
  GateServices.layer,
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

/** What runs without a request. */
const background = Layer.mergeAll(
  OutboxWorker.layer,
  EdgeComparisonLoop.layer,
  AddressRecordWorker.layer,
  AlertWatcher.layer,
  NoticeMailWorker.layer,
  ServiceAccountCleanup.layer,
  AdmissionSweepLoop.layer,
  AuditRetention.layer,
  GrantExpiries.layer,
  Reseal.layer,
  Cleanup.layer
)

/** Who may call, apart from accounts, and how requests are read. */
const middleware = Layer.mergeAll(
  AdminAccess.layer,
  SameOrigin.layer,
  RateLimit.layer,
  DnsBrokerRoutes.layer,
  ReadsBody.layer,
  ReadsParameters.layer
)

/**
 * The groups of the API. For each request the framework copies the services among which a group was built, so each is built
 * among those that it takes and no others (docs/decisions/0016).
 */
const handlersOf = (services: Context.Context<Layer.Success<typeof all>>) => {
  const only = <Keys extends ReadonlyArray<Context.Key<unknown, unknown>>>(...keys: Keys) =>
    Layer.succeedContext(Context.pick(...keys)(services))
  return Layer.mergeAll(
    StatusHandlers.pipe(Layer.provide(only(EdgeQuic, Statuses))),
    EnrollmentHandlers.pipe(Layer.provide(only(Bootstraps, Enrollments))),
    ProvisioningHandlers.pipe(Layer.provide(only(Hosts, Tunnels))),
    AdmissionHandlers.pipe(Layer.provide(only(Admissions, AgentProofs, CertificateStandings, DnsChallenges))),
    TunnelHandlers.pipe(Layer.provide(only(TunnelSharing, TokenRotations, Tunnels))),
    TunnelControlHandlers.pipe(Layer.provide(only(AccessWindows, Alerts, Badges, HttpOnly, ShareLinks))),
    RecordHandlers.pipe(Layer.provide(only(Receipts, Records))),
    BridgeHandlers.pipe(Layer.provide(only(Bridges))),
    BadgeHandlers.pipe(Layer.provide(only(Badges))),
    ChannelHandlers.pipe(Layer.provide(only(AllowLists, Bootstraps, Channels, ClaimInvites, Members, Rooms))),
    ClaimHandlers.pipe(Layer.provide(only(ClaimInvites, Claims))),
    InvitationHandlers.pipe(Layer.provide(only(Invitations))),
    CreditHandlers.pipe(Layer.provide(only(Credits, Limits, Payments))),
    PaymentWebhookHandlers.pipe(Layer.provide(only(Payments))),
    AccountHandlers.pipe(Layer.provide(only(Accounts, Audits, Credits, Payments))),
    ServiceAccountHandlers.pipe(Layer.provide(only(ServiceAccounts))),
    TopologyHandlers.pipe(Layer.provide(only(Assignments, TopologyEditor, Suggestions, Topologies))),
    PipelineHandlers.pipe(Layer.provide(only(Pipelines))),
    DirectoryHandlers.pipe(Layer.provide(only(Directory, RendezvousRecords))),
    EdgeHandlers.pipe(
      Layer.provide(only(AgentKeys, ChannelAdmissions, Edges, Gate, GateCodes, GateSessions, TicketKeys))
    )
  )
}

/** The control plane on this database, whose accounts are known by this authentication. */
export const make = <DE, DR, AE, AR>(
  database: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, DE, DR>,
  authentication: Layer.Layer<Access.AccountAccess | Access.BearerAccess | Access.SessionAccess, AE, AR>
) => {
  const base = Layer.mergeAll(database, Sealing.layer, SecureRandom.layerWebCrypto)
  const services = Layer.provideMerge(all, base)
  return {
    services,
    background: Layer.provide(background, services),
    handlers: Layer.flatMap(services, handlersOf).pipe(
      Layer.provide(Layer.mergeAll(middleware, authentication).pipe(Layer.provide(base)))
    )
  }
}
