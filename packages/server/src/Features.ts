/**
 * What the server is made of: services, what they do in the background, and the routes of the API with the services that
 * each takes. A new service is a line in `Services.ts`, a new group of routes a line here, a migration one in
 * `store/migrations/Registry.ts`.
 */
import type * as Access from "@catenet/domain/api/Access"
import { ReadsBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import type { PgClient } from "@effect/sql-pg"
import { Context, Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import type { SqlClient } from "effect/sql"
import { Accounts } from "./accounts/Accounts.ts"
import { Directory } from "./agents/Directory.ts"
import { Pipelines } from "./agents/Pipelines.ts"
import { RendezvousRecords } from "./agents/RendezvousRecords.ts"
import {
  AccountHandlers,
  CreditHandlers,
  PaymentWebhookHandlers,
  ServiceAccountHandlers
} from "./api/AccountHandlers.ts"
import { AgentPolicyHandlers } from "./api/AgentPolicyHandlers.ts"
import { ChannelHandlers, ClaimHandlers, InvitationHandlers } from "./api/ChannelHandlers.ts"
import { DirectoryHandlers, PipelineHandlers } from "./api/DirectoryHandlers.ts"
import { EdgeHandlers, StatusHandlers } from "./api/EdgeHandlers.ts"
import { AdmissionHandlers, EnrollmentHandlers, ProvisioningHandlers } from "./api/EnrollmentHandlers.ts"
import { BadgeHandlers, RecordHandlers } from "./api/RecordHandlers.ts"
import { TopologyHandlers } from "./api/TopologyHandlers.ts"
import { BridgeHandlers, TunnelControlHandlers, TunnelHandlers } from "./api/TunnelHandlers.ts"
import { Credits } from "./billing/Credits.ts"
import { Payments } from "./billing/Payments.ts"
import { Admissions } from "./certificates/Admissions.ts"
import { sweepLoop } from "./certificates/AdmissionSweep.ts"
import * as CertificateLooks from "./certificates/CertificateLooks.ts"
import { CertificateStandings } from "./certificates/CertificateStandings.ts"
import * as DnsBrokerRoutes from "./certificates/DnsBrokerRoutes.ts"
import { DnsChallenges } from "./certificates/DnsChallenges.ts"
import { orderLoop, PlatformCertificates } from "./certificates/PlatformCertificates.ts"
import { AllowLists } from "./channels/AllowLists.ts"
import { Bridges } from "./channels/Bridges.ts"
import { ChannelAdmissions } from "./channels/ChannelAdmissions.ts"
import { Channels } from "./channels/Channels.ts"
import { ClaimInvites } from "./channels/ClaimInvites.ts"
import { Claims } from "./channels/Claims.ts"
import * as GrantExpiries from "./channels/GrantExpiries.ts"
import { Invitations } from "./channels/Invitations.ts"
import { Members } from "./channels/Members.ts"
import { Rooms } from "./channels/Rooms.ts"
import * as Cleanup from "./Cleanup.ts"
import * as EdgeComparisonLoop from "./edges/EdgeComparisonLoop.ts"
import { Edges } from "./edges/Edges.ts"
import { deliveryLoop } from "./edges/Outbox.ts"
import { TicketKeys } from "./edges/TicketKeys.ts"
import { AgentKeys } from "./enrollment/AgentKeys.ts"
import { AgentProofs } from "./enrollment/AgentProofs.ts"
import { Bootstraps } from "./enrollment/Bootstraps.ts"
import { Enrollments } from "./enrollment/Enrollments.ts"
import { Gate } from "./gate/Gate.ts"
import { GateCallers } from "./gate/GateCallers.ts"
import { GateCodes } from "./gate/GateCodes.ts"
import { TunnelPolicies } from "./gate/TunnelPolicies.ts"
import { ClientAddresses } from "./http/ClientAddresses.ts"
import { Limits } from "./http/Limits.ts"
import * as OneAtATime from "./http/OneAtATime.ts"
import * as RateLimit from "./http/RateLimit.ts"
import * as SameOrigin from "./http/SameOrigin.ts"
import * as AccountAccess from "./identity/AccountAccess.ts"
import { auditRetention, Audits } from "./identity/Audits.ts"
import { serviceAccountCleanup, ServiceAccounts } from "./identity/ServiceAccounts.ts"
import { mailLoops } from "./notices/mail/NoticeMails.ts"
import { EdgeQuic } from "./observability/EdgeQuic.ts"
import { Statuses } from "./observability/Statuses.ts"
import * as Services from "./Services.ts"
import * as Reseal from "./store/Reseal.ts"
import { Sealing } from "./store/Sealing.ts"
import { Assignments } from "./topologies/Assignments.ts"
import { Suggestions } from "./topologies/Suggestions.ts"
import { Topologies } from "./topologies/Topologies.ts"
import { TopologyEditor } from "./topologies/TopologyEditor.ts"
import { AccessWindows } from "./tunnels/AccessWindows.ts"
import { Alerts } from "./tunnels/alerts/Alerts.ts"
import * as Outages from "./tunnels/alerts/Outages.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import { addressRecordLoop } from "./tunnels/hostnames/AddressRecords.ts"
import { Hosts } from "./tunnels/hostnames/Hosts.ts"
import { Badges } from "./tunnels/records/Badges.ts"
import { Receipts } from "./tunnels/records/Receipts.ts"
import { Records } from "./tunnels/records/Records.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"
import { TokenRotations } from "./tunnels/TokenRotations.ts"

import { TunnelRules } from "./tunnels/TunnelRules.ts"
import { Tunnels } from "./tunnels/Tunnels.ts"
import { TunnelSharing } from "./tunnels/TunnelSharing.ts"

/** What runs without a request. */
const background = Layer.mergeAll(
  deliveryLoop,
  EdgeComparisonLoop.layer,
  addressRecordLoop,
  Outages.layer,
  mailLoops,
  serviceAccountCleanup,
  sweepLoop,
  orderLoop,
  CertificateLooks.layer,
  auditRetention,
  GrantExpiries.layer,
  Reseal.layer,
  Cleanup.layer
)

/** Who may call, apart from accounts, and how requests are read. */
const middleware = Layer.mergeAll(
  AccountAccess.adminAccessLayer,
  SameOrigin.layer,
  RateLimit.layer,
  OneAtATime.layer,
  DnsBrokerRoutes.layer,
  ReadsBody.layer,
  ReadsParameters.layer
)

/**
 * The groups of the API. For each request the framework copies the services among which a group was built, so each is built
 * among those that it takes and no others (docs/decisions/0016).
 */
const handlersOf = (services: Context.Context<Layer.Success<typeof Services.layer>>) => {
  const only = <Keys extends ReadonlyArray<Context.Key<unknown, unknown>>>(...keys: Keys) =>
    Layer.succeedContext(Context.pick(...keys)(services))
  return Layer.mergeAll(
    StatusHandlers.pipe(Layer.provide(only(EdgeQuic, Statuses))),
    EnrollmentHandlers.pipe(Layer.provide(only(AgentProofs, Bootstraps, Enrollments))),
    ProvisioningHandlers.pipe(Layer.provide(only(Hosts, Tunnels))),
    AdmissionHandlers.pipe(Layer.provide(only(Admissions, AgentProofs, CertificateStandings, DnsChallenges))),
    AgentPolicyHandlers.pipe(
      Layer.provide(only(AgentProofs, Gate, GateCallers, GateCodes, GateSessions, TunnelPolicies))
    ),
    TunnelHandlers.pipe(Layer.provide(only(TunnelSharing, TokenRotations, Tunnels))),
    TunnelControlHandlers.pipe(Layer.provide(only(AccessWindows, Alerts, Badges, ShareLinks, TunnelRules, Tunnels))),
    RecordHandlers.pipe(Layer.provide(only(Receipts, Records))),
    BridgeHandlers.pipe(Layer.provide(only(Bridges))),
    BadgeHandlers.pipe(Layer.provide(only(Badges))),
    ChannelHandlers.pipe(Layer.provide(only(AllowLists, Bootstraps, Channels, ClaimInvites, Members, Rooms))),
    ClaimHandlers.pipe(Layer.provide(only(ClaimInvites, Claims))),
    InvitationHandlers.pipe(Layer.provide(only(ClientAddresses, Invitations))),
    CreditHandlers.pipe(Layer.provide(only(Credits, Limits, Payments))),
    PaymentWebhookHandlers.pipe(Layer.provide(only(Payments))),
    AccountHandlers.pipe(Layer.provide(only(Accounts, Audits, Credits, Payments))),
    ServiceAccountHandlers.pipe(Layer.provide(only(ServiceAccounts))),
    TopologyHandlers.pipe(Layer.provide(only(Assignments, TopologyEditor, Suggestions, Topologies))),
    PipelineHandlers.pipe(Layer.provide(only(Pipelines))),
    DirectoryHandlers.pipe(Layer.provide(only(Directory, RendezvousRecords))),
    EdgeHandlers.pipe(
      Layer.provide(
        only(AgentKeys, ChannelAdmissions, Edges, Gate, GateCodes, GateSessions, PlatformCertificates, TicketKeys)
      )
    )
  )
}

/** The control plane on this database, whose accounts are known by this authentication. */
export const make = <DE, DR, AE, AR>(
  database: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, DE, DR>,
  authentication: Layer.Layer<Access.AccountAccess | Access.BearerAccess | Access.SessionAccess, AE, AR>
) => {
  const base = Layer.mergeAll(database, Sealing.layer, SecureRandom.layerWebCrypto)
  const services = Layer.provideMerge(Services.layer, base)
  return {
    services,
    background: Layer.provide(background, services),
    handlers: Layer.flatMap(services, handlersOf).pipe(
      Layer.provide(Layer.mergeAll(middleware, authentication).pipe(Layer.provide(base)))
    )
  }
}
