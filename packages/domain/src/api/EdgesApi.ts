/** The calls of edges to the control plane. All need the admin token. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ChannelId } from "../channels/Channel.ts"
import { MemberNotAdmitted } from "../channels/ChannelErrors.ts"
import {
  EdgeUnknown,
  HeartbeatProofIncomplete,
  HeartbeatRefused,
  LookupAmbiguous,
  NoLiveEdge,
  TicketKeysRefused
} from "../edges/EdgeErrors.ts"
import { Authorisation, EdgeId, Heartbeat, ReportedEdge, AgentPresence, ServingEdges } from "../edges/EdgeNode.ts"
import { CertificatesRequest, SealedCertificates } from "../edges/HostCertificates.ts"
import { PortName } from "../edges/PublicPort.ts"
import { SealedTicketKeys, TicketKeyRequest } from "../edges/TicketKeys.ts"
import { GateCodeRefused } from "../tunnels/GateErrors.ts"
import { BrowserHash, GateAnswer, GateEntry } from "../tunnels/GateVisit.ts"
import { Hostname } from "../values/Hostname.ts"
import { HolderKey, NoiseAttestation, NoiseKey, OperatorKey, PublicKey } from "../values/Keys.ts"
import { GateToken, RoutingToken } from "../values/Tokens.ts"
import { AdminAccess } from "./Access.ts"
import { pageQuery } from "./Page.ts"
import { ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** Key and attestation of a member are left out, not null, where none is known. */
export class ChannelAuthorisation extends Schema.Class<ChannelAuthorisation>("ChannelAuthorisation")({
  operator_pubkey: OperatorKey,
  noise_pubkey: Schema.optionalKey(NoiseKey),
  noise_attestation: Schema.optionalKey(NoiseAttestation)
}) {}

export class EdgesApi extends HttpApiGroup.make("edges")
  .annotate(OpenApi.Description, "Edges")
  .add(
    HttpApiEndpoint.post("authorizeChannel", "/internal/channel/authorize", {
      payload: Schema.Struct({ channel: ChannelId, holder: HolderKey }),
      success: ChannelAuthorisation,
      error: MemberNotAdmitted
    })
      .annotate(OpenApi.Summary, "Returns whether a holder is admitted to a channel, and its keys.")
      .middleware(ReadsBody),
    HttpApiEndpoint.get("revokedTokens", "/internal/revoked-tokens", {
      query: pageQuery,
      success: Schema.Struct({ tokens: Schema.Array(RoutingToken) })
    })
      .annotate(OpenApi.Summary, "Lists the revoked routing tokens, which no edge may serve.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("heartbeat", "/internal/edges/heartbeat", {
      payload: Heartbeat,
      success: HttpApiSchema.Empty(200),
      error: [HeartbeatProofIncomplete, HeartbeatRefused]
    })
      .annotate(OpenApi.Summary, "Reports that an edge is live, and its address.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("ticketKeys", "/internal/edges/ticket-keys", {
      payload: TicketKeyRequest,
      success: SealedTicketKeys,
      error: TicketKeysRefused
    })
      .annotate(OpenApi.Summary, "Returns the keys of session tickets, encrypted for the requesting edge.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("certificates", "/internal/edges/certificates", {
      payload: CertificatesRequest,
      success: SealedCertificates,
      error: TicketKeysRefused
    })
      .annotate(
        OpenApi.Summary,
        "Returns the certificates of the platform's names and hosts that changed, encrypted for the requesting edge."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.post("agentProved", "/internal/tunnel/agent-proved", {
      payload: Schema.Struct({ token: RoutingToken, key: PublicKey }),
      success: HttpApiSchema.Empty(200)
    })
      .annotate(
        OpenApi.Summary,
        "Reports that an agent has proved its key; from then on, every agent of the tunnel must."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.get("list", "/internal/edges", {
      query: pageQuery,
      success: Schema.Array(ReportedEdge)
    })
      .annotate(OpenApi.Summary, "Lists the edges that have sent heartbeats, and which of them are live.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("lookup", "/internal/edges/lookup", {
      query: {
        token: Schema.optionalKey(RoutingToken),
        host: Schema.optionalKey(Hostname),
        port: Schema.optionalKey(PortName)
      },
      success: ServingEdges,
      error: [LookupAmbiguous, NoLiveEdge]
    })
      .annotate(
        OpenApi.Summary,
        "Returns the live edge that has an agent of a routing token, host name or public port, else the host's own edge."
      )
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("presence", "/internal/edges/presence", {
      payload: AgentPresence,
      success: HttpApiSchema.Empty(200),
      error: EdgeUnknown
    })
      .annotate(OpenApi.Summary, "Reports which tunnels have an agent at an edge.")
      .middleware(ReadsBody),
    HttpApiEndpoint.get("rehydrate", "/internal/edges/rehydrate/:edge_id", {
      params: { edge_id: EdgeId },
      query: pageQuery,
      success: Schema.Array(Authorisation)
    })
      .annotate(OpenApi.Summary, "Returns everything that an edge needs when it starts.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("rebind", "/internal/edges/:id/rebind", {
      params: { id: EdgeId },
      success: HttpApiSchema.Empty(200),
      error: EdgeUnknown
    })
      .annotate(OpenApi.Summary, "Removes the key to which an edge is pinned.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("checkVisitor", "/internal/gate/check", {
      payload: Schema.Struct({ host: Hostname, session: Schema.optionalKey(GateToken) }),
      success: GateAnswer
    })
      .annotate(
        OpenApi.Summary,
        "Returns whether a visitor may pass the login gate of a host, and the visitor's identity."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.post("redeemGateCode", "/internal/gate/redeem", {
      payload: Schema.Struct({ host: Hostname, code: GateToken, browser: BrowserHash }),
      success: GateEntry,
      error: GateCodeRefused
    })
      .annotate(OpenApi.Summary, "Exchanges the code of a sign-in for a visitor session at one host, once.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("endVisit", "/internal/gate/end", {
      payload: Schema.Struct({ host: Hostname, session: GateToken }),
      success: HttpApiSchema.Empty(200)
    })
      .annotate(OpenApi.Summary, "Ends a visitor's session.")
      .middleware(ReadsBody)
  )
  .middleware(AdminAccess) {}

/** The part of the control plane's API that an edge calls. A client that is made of this holds no schema of the rest. */
export class EdgeCallsApi extends HttpApi.make("catenet").add(EdgesApi) {}
