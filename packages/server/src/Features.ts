/**
 * The registry of features: what each contributes to the API and to the background. A feature is a folder; adding one
 * is a line here, and a migration in `store/migrations/Registry.ts`.
 */
import { ReadsBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import { Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Accounts } from "./accounts/Accounts.ts"
import * as AccountsHttp from "./accounts/Http.ts"
import { AccessTokens } from "./access/AccessTokens.ts"
import * as AccountAccess from "./access/AccountAccess.ts"
import * as AdminAccess from "./access/AdminAccess.ts"
import { KeySet } from "./access/KeySet.ts"
import { EmailDomains } from "./access/EmailDomains.ts"
import * as Metered from "./access/Metered.ts"
import * as SameOrigin from "./access/SameOrigin.ts"
import { Admissions } from "./admission/Admissions.ts"
import { Authorities } from "./admission/Authorities.ts"
import { AddressRecords } from "./addressRecords/AddressRecords.ts"
import * as AddressRecordsWorker from "./addressRecords/Worker.ts"
import * as AdmissionHttp from "./admission/Http.ts"
import { Sweep } from "./admission/Sweep.ts"
import * as AdmissionSweep from "./admission/SweepLoop.ts"
import * as AlertWatcher from "./alerts/Watcher.ts"
import { Audits } from "./audit/Audits.ts"
import * as AuditRetention from "./audit/Retention.ts"
import * as BadgesHttp from "./badges/Http.ts"
import { Bootstraps } from "./bootstrap/Bootstraps.ts"
import * as BridgeHttp from "./bridge/Http.ts"
import { Directory } from "./directory/Directory.ts"
import * as DirectoryHttp from "./directory/Http.ts"
import { Rendezvous } from "./directory/Rendezvous.ts"
import { ChannelAdmissions } from "./channels/ChannelAdmissions.ts"
import { Channels } from "./channels/Channels.ts"
import * as ChannelsHttp from "./channels/Http.ts"
import { Members } from "./channels/Members.ts"
import { ChannelRelations } from "./channels/Relations.ts"
import { AllowLists } from "./claims/AllowLists.ts"
import { ClaimInvites } from "./claims/ClaimInvites.ts"
import { Claims } from "./claims/Claims.ts"
import * as ClaimsHttp from "./claims/Http.ts"
import { Credits } from "./credits/Credits.ts"
import * as CreditsHttp from "./credits/Http.ts"
import { Challenges } from "./dns01/Challenges.ts"
import * as DnsPresence from "./dns01/Presence.ts"
import * as DnsProvider from "./dns01/Provider.ts"
import { EdgeAdmin } from "./edges/EdgeAdmin.ts"
import { Edges } from "./edges/Edges.ts"
import * as EdgesHttp from "./edges/Http.ts"
import { AgentKeys } from "./enrolment/AgentKeys.ts"
import { Enrolments } from "./enrolment/Enrolments.ts"
import * as EnrolmentHttp from "./enrolment/Http.ts"
import { ClientAddresses } from "./http/ClientAddresses.ts"
import * as Housekeeping from "./housekeeping/Housekeeping.ts"
import { HostnameProofs } from "./hostnames/HostnameProofs.ts"
import { HostnameRules } from "./hostnames/HostnameRules.ts"
import { Resolver } from "./hostnames/Resolver.ts"
import { Idempotency } from "./idempotency/Idempotency.ts"
import { RealmAdmin } from "./identityProvider/RealmAdmin.ts"
import { SignIns } from "./identityProvider/SignIns.ts"
import * as InvitationsHttp from "./invitations/Http.ts"
import { Invitations } from "./invitations/Invitations.ts"
import { Limits } from "./limits/Limits.ts"
import { Outbox } from "./outbox/Outbox.ts"
import * as OutboxWorker from "./outbox/Worker.ts"
import { Payments } from "./payments/Payments.ts"
import * as PaymentsWebhook from "./payments/Webhook.ts"
import { PortalSignIns } from "./portal/PortalSignIns.ts"
import * as PipelinesHttp from "./pipelines/Http.ts"
import { Pipelines } from "./pipelines/Pipelines.ts"
import * as ProvisioningHttp from "./provisioning/Http.ts"
import { GateSessions } from "./gate/GateSessions.ts"
import { LoginOrders } from "./gate/LoginOrders.ts"
import { Hosts } from "./registry/Hosts.ts"
import * as TunnelRecordsHttp from "./records/Http.ts"
import { Rooms } from "./rooms/Rooms.ts"
import * as Reseal from "./sealing/Reseal.ts"
import * as ServiceAccountsHttp from "./serviceAccounts/Http.ts"
import { ServiceAccounts } from "./serviceAccounts/ServiceAccounts.ts"
import * as ServiceAccountsSweep from "./serviceAccounts/Sweep.ts"
import { Sessions } from "./sessions/Sessions.ts"
import * as StatusHttp from "./status/Http.ts"
import { Statuses } from "./status/Statuses.ts"
import { TopologyAuthorisations } from "./topologies/Authorisations.ts"
import { Assignments } from "./topologies/Assignments.ts"
import { Drawings } from "./topologies/Drawings.ts"
import * as TopologiesHttp from "./topologies/Http.ts"
import { Suggestions } from "./topologies/Suggestions.ts"
import { Topologies } from "./topologies/Topologies.ts"
import * as TunnelControls from "./tunnelControls/Services.ts"
import * as TunnelControlsSweep from "./tunnelControls/Sweep.ts"
import * as TunnelControlsHttp from "./tunnelControls/Http.ts"
import * as TunnelsHttp from "./tunnels/Http.ts"
import { TokenRotations } from "./tunnels/TokenRotations.ts"
import { Sharing } from "./tunnels/Sharing.ts"
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
