/**
 * The groups of the API value that this program has handlers for. What is not here is not there: 404, and no word of it
 * in the OpenAPI document.
 */
import { AccountsApi, CreditsApi } from "@catenet/domain/api/AccountsApi"
import { AdmissionApi } from "@catenet/domain/api/AdmissionApi"
import { BillingApi, PaymentWebhookApi } from "@catenet/domain/api/BillingApi"
import { BridgeApi } from "@catenet/domain/api/BridgeApi"
import { ChannelsApi } from "@catenet/domain/api/ChannelsApi"
import { ClaimsApi } from "@catenet/domain/api/ClaimsApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { DirectoryApi } from "@catenet/domain/api/DirectoryApi"
import { EdgesApi } from "@catenet/domain/api/EdgesApi"
import { EnrollmentApi } from "@catenet/domain/api/EnrollmentApi"
import { PipelinesApi } from "@catenet/domain/api/PipelinesApi"
import { InvitationsApi } from "@catenet/domain/api/InvitationsApi"
import { OperatorsApi } from "@catenet/domain/api/OperatorsApi"
import { ProvisioningApi } from "@catenet/domain/api/ProvisioningApi"
import { ServiceAccountsApi } from "@catenet/domain/api/ServiceAccountsApi"
import { StatusApi } from "@catenet/domain/api/StatusApi"
import { NetworksApi, TopologiesApi } from "@catenet/domain/api/TopologiesApi"
import { TunnelControlsApi } from "@catenet/domain/api/TunnelControlsApi"
import { BadgesApi, PortalDownloadsApi, TunnelRecordsApi } from "@catenet/domain/api/TunnelRecordsApi"
import { TunnelsApi } from "@catenet/domain/api/TunnelsApi"
import { HttpApi } from "effect/http-api"

export class ServedApi extends HttpApi.make("catenet")
  .add(StatusApi)
  .add(EnrollmentApi)
  .add(ProvisioningApi)
  .add(AdmissionApi)
  .add(TunnelsApi)
  .add(TunnelControlsApi)
  .add(TunnelRecordsApi)
  .add(PortalDownloadsApi)
  .add(BadgesApi)
  .add(BridgeApi)
  .add(TopologiesApi)
  .add(NetworksApi)
  .add(PipelinesApi)
  .add(DirectoryApi)
  .add(ChannelsApi)
  .add(ClaimsApi)
  .add(InvitationsApi)
  .add(CreditsApi)
  .add(AccountsApi)
  .add(BillingApi)
  .add(PaymentWebhookApi)
  .add(OperatorsApi)
  .add(ServiceAccountsApi)
  .add(EdgesApi)
  .annotateMerge(ControlPlaneApi.annotations) {}
