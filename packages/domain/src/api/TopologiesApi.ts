/** Topologies: who may talk to whom, drawn by an account and edited by those it is shared with. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ChannelId } from "../channels/Channel.ts"
import { AttestationRefused } from "../channels/ChannelErrors.ts"
import {
  AgentLabel,
  AgentNoiseKey,
  NewOperatorBinding,
  NewPlacement,
  OperatorBinding,
  OverlayMode,
  PublicTopology,
  SuggestRequest,
  Suggestion,
  Topology,
  TopologyIds
} from "../topologies/Topology.ts"
import {
  AgentAssigned,
  AgentNotAssigned,
  ChannelUnrelated,
  EdgeNotFound,
  EdgeRefused,
  NetworkUnknown,
  NotAgentOwner,
  NothingToSuggest,
  PlacementProofInvalid,
  ShareNotFound,
  ShortcutBudgetTooLarge,
  TooManyAgents,
  TopologyLimitReached,
  TopologyNotFound
} from "../topologies/TopologyErrors.ts"
import { Email } from "../values/Email.ts"
import { NetUuidInPath, TopologyIdInPath } from "../values/Ids.ts"
import { HolderKey, NewHolderKey } from "../values/Keys.ts"
import { IdempotencyKeyReused, LimitReached } from "../values/RequestErrors.ts"
import { AccountAccess, OneAtATime, RateLimit, SameOrigin } from "./Access.ts"
import { lossless } from "./LosslessJson.ts"
import { idempotencyHeader, pageQuery } from "./Page.ts"
import { exactBody, BodyLimit, ReadsBody, ReadsParameters } from "./RequestReading.ts"

const id = { id: TopologyIdInPath }
/** As many links as a suggestion takes, each with a cost of 20 digits, with room for blanks. */
const maxSuggestBytes = 1024 * 1024

const done = HttpApiSchema.Empty(200)
const ends = { a: HolderKey, b: HolderKey }

/** Reading, by owner and viewers. */
const reads = [
  HttpApiEndpoint.get("list", "/me/topologies", { query: pageQuery, success: Schema.Array(TopologyIds) }).middleware(
    ReadsParameters
  ),
  HttpApiEndpoint.get("listShared", "/me/topologies/shared", {
    query: pageQuery,
    success: Schema.Array(TopologyIds)
  }).middleware(ReadsParameters),
  HttpApiEndpoint.get("get", "/me/topologies/:id", { params: id, success: Topology, error: TopologyNotFound }),
  HttpApiEndpoint.get("getOperator", "/me/topologies/:id/operator", {
    params: id,
    success: OperatorBinding,
    error: TopologyNotFound
  }),
  HttpApiEndpoint.get("listShares", "/me/topologies/:id/share", {
    params: id,
    query: pageQuery,
    success: Schema.Struct({ emails: Schema.Array(Email) }),
    error: TopologyNotFound
  }).middleware(ReadsParameters)
] as const

/** Writing, by owner and editors. */
const writes = [
  HttpApiEndpoint.post("create", "/me/topologies", {
    headers: idempotencyHeader,
    success: TopologyIds,
    error: [IdempotencyKeyReused, TopologyLimitReached]
  }).middleware(ReadsParameters),
  HttpApiEndpoint.delete("remove", "/me/topologies/:id", { params: id, success: done, error: TopologyNotFound }),
  HttpApiEndpoint.post("assignAgent", "/me/topologies/:id/agents", {
    params: id,
    headers: idempotencyHeader,
    payload: NewPlacement,
    success: done,
    error: [PlacementProofInvalid, NotAgentOwner, TopologyNotFound, AgentAssigned, IdempotencyKeyReused, LimitReached]
  }).middleware(ReadsBody),
  HttpApiEndpoint.delete("unassignAgent", "/me/topologies/:id/agents/:agent", {
    params: { id: TopologyIdInPath, agent: HolderKey },
    success: done,
    error: [TopologyNotFound, AgentNotAssigned]
  }).middleware(ReadsParameters),
  HttpApiEndpoint.put("labelAgent", "/me/topologies/:id/agents/:agent/label", {
    params: { id: TopologyIdInPath, agent: HolderKey },
    payload: Schema.Struct({ label: AgentLabel }),
    success: done,
    error: [TopologyNotFound, AgentNotAssigned]
  })
    .annotateMerge(exactBody)
    .middleware(ReadsBody),
  HttpApiEndpoint.post("putNoiseKey", "/me/topologies/:id/agents/:agent/noise-key", {
    params: { id: TopologyIdInPath, agent: HolderKey },
    payload: AgentNoiseKey,
    success: done,
    error: [TopologyNotFound, AgentNotAssigned, NotAgentOwner, AttestationRefused, EdgeNotFound]
  }).middleware(ReadsBody),
  HttpApiEndpoint.post("addEdge", "/me/topologies/:id/edges", {
    params: id,
    headers: idempotencyHeader,
    payload: Schema.Struct({ a: NewHolderKey, b: NewHolderKey }),
    success: done,
    error: [EdgeRefused, IdempotencyKeyReused, LimitReached]
  }).middleware(ReadsBody),
  HttpApiEndpoint.delete("removeEdge", "/me/topologies/:id/edges", {
    params: id,
    payload: Schema.Struct(ends),
    success: done,
    error: EdgeNotFound
  }).middleware(ReadsBody),
  HttpApiEndpoint.put("noteChannel", "/me/topologies/:id/edges/channel", {
    params: id,
    payload: Schema.Struct({ ...ends, channel: Schema.optionalKey(Schema.NullOr(ChannelId)) }),
    success: done,
    error: [ChannelUnrelated, EdgeNotFound]
  }).middleware(ReadsBody),
  HttpApiEndpoint.put("setMode", "/me/topologies/:id/mode", {
    params: id,
    payload: Schema.Struct({ mode: OverlayMode }),
    success: done,
    error: TopologyNotFound
  }).middleware(ReadsBody),
  HttpApiEndpoint.post("suggest", "/me/topologies/:id/suggest", {
    params: id,
    payload: lossless(SuggestRequest),
    success: lossless(Suggestion),
    error: [TopologyNotFound, NothingToSuggest, ShortcutBudgetTooLarge, TooManyAgents]
  })
    .annotate(BodyLimit, maxSuggestBytes)
    .middleware(ReadsBody)
    .middleware(OneAtATime),
  HttpApiEndpoint.put("bindOperator", "/me/topologies/:id/operator", {
    params: id,
    payload: NewOperatorBinding,
    success: done,
    error: TopologyNotFound
  }).middleware(ReadsBody),
  HttpApiEndpoint.delete("unbindOperator", "/me/topologies/:id/operator", {
    params: id,
    success: done,
    error: TopologyNotFound
  }),
  HttpApiEndpoint.post("share", "/me/topologies/:id/share", {
    params: id,
    payload: Schema.Struct({ email: Email }),
    success: done,
    error: [TopologyNotFound, LimitReached]
  }).middleware(ReadsBody),
  HttpApiEndpoint.post("unshare", "/me/topologies/:id/share/:email/remove", {
    params: { id: TopologyIdInPath, email: Email },
    success: done,
    error: ShareNotFound
  }).middleware(ReadsParameters)
] as const

export class TopologiesApi extends HttpApiGroup.make("topologies")
  .add(...writes)
  .middleware(SameOrigin)
  .add(...reads)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}

/** The data of a topology's public page. */
export class NetworksApi extends HttpApiGroup.make("networks")
  .add(
    HttpApiEndpoint.get("get", "/net/:net_uuid/topology", {
      params: { net_uuid: NetUuidInPath },
      success: PublicTopology,
      error: NetworkUnknown
    })
  )
  .middleware(RateLimit) {}
