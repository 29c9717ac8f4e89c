/**
 * The admin API of an edge: orders and questions of the control plane. Where a path has a token, the same path without
 * it takes the token in a header, which proxies and logs do not show.
 */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ChannelId } from "../channels/Channel.ts"
import { AccessPolicy } from "../edges/AccessPolicy.ts"
import { EdgeUnhealthy, HistoryDisabled, ReceiptsDisabled } from "../edges/EdgeErrors.ts"
import { PublicPort } from "../edges/PublicPort.ts"
import { AgentProof, TunnelOptions } from "../edges/TunnelOptions.ts"
import { StoredRules } from "../rules/Rules.ts"
import { ReceiptKey, ReceiptPage } from "../tunnels/Receipt.ts"
import {
  TokenHistory,
  TokenStatusReport,
  TokenSums,
  TunnelHistory,
  TunnelStatusReport
} from "../tunnels/TunnelTraffic.ts"
import { boundedArray } from "../values/BoundedArray.ts"
import { Hex64 } from "../values/Hex.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { HolderKey, PublicKey } from "../values/Keys.ts"
import { Count, CountFromText, countFromText } from "../values/Numbers.ts"
import { literal } from "../values/Pattern.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { EdgeAdminAccess } from "./Access.ts"
import { describeApi, documentHead } from "./DescribedApi.ts"
import { ReadsEdgeBody, ReadsParameters } from "./RequestReading.ts"

/** As many tokens or keys as a body has room for. */
const most = 32_768

const token = { token: RoutingToken }
const tokenHeader = { "x-ct-routing-token": RoutingToken }
/** With the revision of the tunnel's policy, which the edge passes on to agents that enforce it. */
const policyHeaders = { ...tokenHeader, "x-ct-policy-revision": Schema.optionalKey(CountFromText) }

/** As many tunnels or channels as one question about all that is kept of them is for. */
export const maxQuestioned = 256

/** Present: the edge terminates TLS for the host with the shared certificate. Absent: it passes TLS through. */
const tier = {
  channel_tier: Schema.optionalKey(literal(["gelb"])),
  /** Unix seconds until which an authority may validate the host whatever the policy of its tunnel says. Absent: never. */
  admission_until: Schema.optionalKey(CountFromText),
  /** Whether visitors have to log in. Absent: as it was. */
  require_login: Schema.optionalKey(literal(["0", "1"]))
}

/** Tunnels of one account share its part of what the edge has. Absent: as it was, or each tunnel has a part of its own. */
const accountHeader = { "x-ct-owner-account": Schema.optionalKey(Hex64) }

/** A holder seen on a channel. `parked_now`: seen within the last 60 s. */
export class ChannelPresence extends Schema.Class<ChannelPresence>("ChannelPresence")({
  holder: HolderKey,
  parked_now: Schema.Boolean,
  last_seen_secs_ago: Count
}) {}

/** Whether one holder was seen on a channel since the edge started. */
const HolderPresence = Schema.Union([
  Schema.Struct({ seen: Schema.Literal(true), parked_now: Schema.Boolean, last_seen_secs_ago: Count }),
  Schema.Struct({ seen: Schema.Literal(false) })
])

/** A host name that the edge routes, and the token that it routes it to. */
class HostBinding extends Schema.Class<HostBinding>("HostBinding")({
  hostname: TunnelHostname,
  token: RoutingToken
}) {}

const QuicListenerName = literal(["mesh", "channel-broker", "channel-relay"])

class TunnelOrdersApi extends HttpApiGroup.make("orders")
  .add(
    HttpApiEndpoint.post("authorizeHost", "/admin/authorize-host/:token/:host", {
      params: { token: RoutingToken, host: TunnelHostname },
      headers: accountHeader,
      query: tier,
      success: HttpApiSchema.Empty(200)
    }),
    HttpApiEndpoint.post("authorizeHostByHeader", "/admin/authorize-host/:host", {
      params: { host: TunnelHostname },
      headers: { ...tokenHeader, ...accountHeader },
      query: tier,
      success: HttpApiSchema.Empty(200)
    }),
    /** Does nothing where the host name leads to another tunnel. */
    HttpApiEndpoint.post("releaseHost", "/admin/release-host/:host", {
      params: { host: TunnelHostname },
      headers: tokenHeader,
      success: HttpApiSchema.Empty(200)
    }),
    HttpApiEndpoint.post("revoke", "/admin/revoke/:token", { params: token, success: HttpApiSchema.Empty(200) }),
    HttpApiEndpoint.post("revokeByHeader", "/admin/revoke", {
      headers: { ...tokenHeader, "x-ct-successor-token": Schema.optionalKey(RoutingToken) },
      success: HttpApiSchema.Empty(200)
    })
  )
  .middleware(ReadsParameters)
  .add(
    HttpApiEndpoint.post("setAccessPolicy", "/internal/tunnel/access-policy", {
      headers: policyHeaders,
      payload: Schema.NullOr(AccessPolicy),
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsEdgeBody),
    HttpApiEndpoint.post("setOptions", "/internal/tunnel/options", {
      headers: policyHeaders,
      payload: TunnelOptions,
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsEdgeBody),
    HttpApiEndpoint.post("setPort", "/internal/tunnel/port", {
      headers: tokenHeader,
      payload: PublicPort,
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsEdgeBody),
    HttpApiEndpoint.post("setRules", "/internal/tunnel/rules", {
      headers: policyHeaders,
      payload: StoredRules,
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsEdgeBody),
    HttpApiEndpoint.post("setAgentKeys", "/internal/tunnel/agent-keys", {
      headers: tokenHeader,
      query: { proof: Schema.optionalKey(AgentProof) },
      payload: boundedArray(most, PublicKey),
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsEdgeBody),
    /**
     * What the holder has at the channel is ended, waiting or talking; without a holder, what all members have. `keeps` is the
     * SHA-256 of a grant by which it goes on; an edge that does not know the member ends that too.
     */
    HttpApiEndpoint.post("cutMembers", "/internal/channel/cut", {
      payload: Schema.Struct({
        channel: ChannelId,
        holder: Schema.optionalKey(HolderKey),
        keeps: Schema.optionalKey(Hex64)
      }),
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsEdgeBody),
    /** The edge asks anew about every visitor of the tunnel, as a session may have ended. */
    HttpApiEndpoint.post("setLogin", "/internal/tunnel/login", {
      headers: policyHeaders,
      payload: Schema.Struct({ required: Schema.Boolean }),
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsEdgeBody)
  )
  .middleware(EdgeAdminAccess) {}

const historyPage = {
  limit: Schema.optionalKey(countFromText(1, 200)),
  /** With the sums and the days of thirty days. */
  figures: Schema.optionalKey(literal(["1"]))
}

const receiptsPage = {
  limit: Schema.optionalKey(countFromText(1, 1000)),
  since: Schema.optionalKey(CountFromText)
}

class TunnelFactsApi extends HttpApiGroup.make("facts")
  .add(
    HttpApiEndpoint.get("status", "/admin/tunnel-status/:token", { params: token, success: TunnelStatusReport }),
    HttpApiEndpoint.get("statusByHeader", "/admin/tunnel-status", {
      headers: tokenHeader,
      success: TunnelStatusReport
    }),
    HttpApiEndpoint.get("history", "/internal/tunnel/history/:token", {
      params: token,
      query: historyPage,
      success: TunnelHistory,
      error: HistoryDisabled
    }),
    HttpApiEndpoint.get("historyByHeader", "/internal/tunnel/history", {
      headers: tokenHeader,
      query: historyPage,
      success: TunnelHistory,
      error: HistoryDisabled
    }),
    HttpApiEndpoint.get("receipts", "/internal/tunnel/receipts/:token", {
      params: token,
      query: receiptsPage,
      success: ReceiptPage,
      error: ReceiptsDisabled
    }),
    HttpApiEndpoint.get("receiptsByHeader", "/internal/tunnel/receipts", {
      headers: tokenHeader,
      query: receiptsPage,
      success: ReceiptPage,
      error: ReceiptsDisabled
    }),
    HttpApiEndpoint.get("presence", "/internal/channel/presence/:channel", {
      params: { channel: ChannelId },
      success: Schema.Struct({ holders: Schema.Array(ChannelPresence) })
    }),
    HttpApiEndpoint.get("holderPresence", "/internal/channel/presence/:channel/:holder", {
      params: { channel: ChannelId, holder: HolderKey },
      success: HolderPresence
    })
  )
  .middleware(ReadsParameters)
  .add(
    /** How many tunnels have an agent here. */
    HttpApiEndpoint.get("activeTunnels", "/admin/active-tunnels", {
      success: Schema.Struct({ active_tunnels: Count })
    }),
    /** The listeners that take QUIC on the UDP port of their number. */
    HttpApiEndpoint.get("quicListeners", "/internal/quic/listeners", {
      success: Schema.Struct({ listeners: Schema.Array(QuicListenerName) })
    }),
    HttpApiEndpoint.get("hosts", "/admin/host-auth-dump", { success: Schema.Array(HostBinding) }),
    HttpApiEndpoint.get("receiptKey", "/internal/receipts/pubkey", { success: ReceiptKey, error: ReceiptsDisabled }),
    /** What passed in thirty days through many tunnels. */
    HttpApiEndpoint.post("sums", "/internal/tunnel/sums/bulk", {
      payload: Schema.Struct({ tokens: boundedArray(most, Schema.Unknown) }),
      success: Schema.Array(TokenSums),
      error: HistoryDisabled
    }).middleware(ReadsEdgeBody),
    /** The newest sessions of many tunnels, as one history each. */
    HttpApiEndpoint.post("histories", "/internal/tunnel/history/bulk", {
      payload: Schema.Struct({
        tokens: boundedArray(maxQuestioned, Schema.Unknown),
        limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))),
        /** With the sums and the days of thirty days. */
        figures: Schema.optionalKey(Schema.Boolean)
      }),
      success: Schema.Array(TokenHistory),
      error: HistoryDisabled
    }).middleware(ReadsEdgeBody),
    /** The holders that were seen on each of many channels. */
    HttpApiEndpoint.post("presences", "/internal/channel/presence/bulk", {
      payload: Schema.Struct({ channels: boundedArray(maxQuestioned, ChannelId) }),
      success: Schema.Array(Schema.Struct({ channel: ChannelId, holders: Schema.Array(ChannelPresence) }))
    }).middleware(ReadsEdgeBody),
    HttpApiEndpoint.post("statuses", "/admin/tunnel-status/bulk", {
      payload: Schema.Struct({
        tokens: boundedArray(most, Schema.Unknown),
        /** Somebody looks at these tunnels: they are asked for their origins more often for a while. */
        watched: Schema.optionalKey(Schema.Boolean)
      }),
      success: Schema.Array(TokenStatusReport)
    }).middleware(ReadsEdgeBody)
  )
  .middleware(EdgeAdminAccess) {}

/** Open to all who reach the address. */
class EdgeHealthApi extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("live", "/healthz", { success: HttpApiSchema.Empty(200), error: EdgeUnhealthy })
) {}

const description =
  "The admin API of an edge, used by its control plane. Errors are RFC 9457 problems of type application/problem+json."

export class EdgeAdminApi extends HttpApi.make("catenet-edge")
  .add(TunnelOrdersApi)
  .add(TunnelFactsApi)
  .add(EdgeHealthApi)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all" })
  .annotateMerge(
    OpenApi.annotations({ title: "Catenet edge", ...documentHead, description, transform: describeApi })
  ) {}
