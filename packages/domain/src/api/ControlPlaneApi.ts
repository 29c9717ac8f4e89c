/**
 * The control plane's whole JSON API as one value: routes, authentication, requests, answers and every refusal.
 *
 * Server, typed clients, tests and the OpenAPI document are all made from it.
 */
import { flow } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { PipelineSpec } from "../agents/Pipeline.ts"
import { SuggestRequest, Suggestion } from "../topologies/Topology.ts"
import {
  AccountsApi,
  BillingApi,
  CreditsApi,
  OperatorsApi,
  PaymentWebhookApi,
  ProvisioningApi,
  ServiceAccountsApi
} from "./AccountsApi.ts"
import { AdmissionApi } from "./AdmissionApi.ts"
import { AgentPolicyApi } from "./AgentPolicyApi.ts"
import { BridgeApi } from "./BridgeApi.ts"
import { ChannelsApi, ClaimsApi, InvitationsApi } from "./ChannelsApi.ts"
import { describeApi, documentHead } from "./DescribedApi.ts"
import { DirectoryApi, OperatorPublication, PipelinePublication, PipelinesApi } from "./DirectoryApi.ts"
import { EdgesApi } from "./EdgesApi.ts"
import { EnrollmentApi } from "./EnrollmentApi.ts"
import { describeLossless } from "./LosslessJson.ts"
import { StatusApi } from "./StatusApi.ts"
import { NetworksApi, TopologiesApi } from "./TopologiesApi.ts"
import { BadgesApi, PortalDownloadsApi, TunnelControlsApi, TunnelRecordsApi } from "./TunnelControlsApi.ts"
import { TunnelsApi } from "./TunnelsApi.ts"

const description = `Errors are RFC 9457 problems of type application/problem+json: \`code\` is a stable identifier, \`detail\` is a
sentence for people, and further members hold the facts. Any route may also answer 500 with a trace id. Unknown members
of a request are ignored, unless the operation refuses them. Lists are complete unless \`limit\` is given; then the \`Link\` header has the address of the
next page.`

export class ControlPlaneApi extends HttpApi.make("catenet")
  .add(StatusApi)
  .add(EnrollmentApi)
  .add(ProvisioningApi)
  .add(AdmissionApi)
  .add(AgentPolicyApi)
  .add(TunnelsApi)
  .add(TunnelControlsApi)
  .add(TunnelRecordsApi)
  .add(PortalDownloadsApi)
  .add(BadgesApi)
  .add(BridgeApi)
  .add(ChannelsApi)
  .add(ClaimsApi)
  .add(InvitationsApi)
  .add(TopologiesApi)
  .add(NetworksApi)
  .add(PipelinesApi)
  .add(DirectoryApi)
  .add(ServiceAccountsApi)
  .add(CreditsApi)
  .add(AccountsApi)
  .add(BillingApi)
  .add(PaymentWebhookApi)
  .add(OperatorsApi)
  .add(EdgesApi)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all" })
  .annotateMerge(
    OpenApi.annotations({
      title: "Catenet control plane",
      ...documentHead,
      description,
      transform: flow(
        describeLossless([SuggestRequest, Suggestion, PipelineSpec, PipelinePublication, OperatorPublication]),
        describeApi
      )
    })
  ) {}
