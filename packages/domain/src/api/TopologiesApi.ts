/** Topologies: who may talk to whom, drawn by an account and edited by those it is shared with. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
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
  HttpApiEndpoint.get("list", "/me/topologies", { query: pageQuery, success: Schema.Array(TopologyIds) })
    .annotate(OpenApi.Summary, "Lists your topologies.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.get("listShared", "/me/topologies/shared", {
    query: pageQuery,
    success: Schema.Array(TopologyIds)
  })
    .annotate(OpenApi.Summary, "Lists topologies shared with your verified e-mail address.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.get("get", "/me/topologies/:id", { params: id, success: Topology, error: TopologyNotFound }).annotate(
    OpenApi.Summary,
    "Returns the agents, edges and overlay mode of a topology that is yours or shared with you."
  ),
  HttpApiEndpoint.get("getOperator", "/me/topologies/:id/operator", {
    params: id,
    success: OperatorBinding,
    error: TopologyNotFound
  }).annotate(OpenApi.Summary, "Returns the bound operator key."),
  HttpApiEndpoint.get("listShares", "/me/topologies/:id/share", {
    params: id,
    query: pageQuery,
    success: Schema.Struct({ emails: Schema.Array(Email) }),
    error: TopologyNotFound
  })
    .annotate(OpenApi.Summary, "Lists the accounts with which the topology is shared.")
    .middleware(ReadsParameters)
] as const

/** Writing, by owner and editors. */
const writes = [
  HttpApiEndpoint.post("create", "/me/topologies", {
    headers: idempotencyHeader,
    success: TopologyIds,
    error: [IdempotencyKeyReused, TopologyLimitReached]
  })
    .annotate(OpenApi.Summary, "Creates a topology.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.delete("remove", "/me/topologies/:id", {
    params: id,
    success: done,
    error: TopologyNotFound
  }).annotate(OpenApi.Summary, "Deletes a topology and releases its agents."),
  HttpApiEndpoint.post("assignAgent", "/me/topologies/:id/agents", {
    params: id,
    headers: idempotencyHeader,
    payload: NewPlacement,
    success: done,
    error: [PlacementProofInvalid, NotAgentOwner, TopologyNotFound, AgentAssigned, IdempotencyKeyReused, LimitReached]
  })
    .annotate(
      OpenApi.Summary,
      "Places an agent in the topology; an agent can be in one topology only. With the agent's signature, it is taken over from an account that placed it without."
    )
    .middleware(ReadsBody),
  HttpApiEndpoint.delete("unassignAgent", "/me/topologies/:id/agents/:agent", {
    params: { id: TopologyIdInPath, agent: HolderKey },
    success: done,
    error: [TopologyNotFound, AgentNotAssigned]
  })
    .annotate(OpenApi.Summary, "Removes an agent from the topology.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.put("labelAgent", "/me/topologies/:id/agents/:agent/label", {
    params: { id: TopologyIdInPath, agent: HolderKey },
    payload: Schema.Struct({ label: AgentLabel }),
    success: done,
    error: [TopologyNotFound, AgentNotAssigned]
  })
    .annotate(OpenApi.Summary, "Sets an agent's name in this topology.")
    .annotateMerge(exactBody)
    .middleware(ReadsBody),
  HttpApiEndpoint.post("putNoiseKey", "/me/topologies/:id/agents/:agent/noise-key", {
    params: { id: TopologyIdInPath, agent: HolderKey },
    payload: AgentNoiseKey,
    success: done,
    error: [TopologyNotFound, AgentNotAssigned, NotAgentOwner, AttestationRefused, EdgeNotFound]
  })
    .annotate(
      OpenApi.Summary,
      "Stores the Noise key that an agent has attested for the channel of one of its links, which admits the agent."
    )
    .middleware(ReadsBody),
  HttpApiEndpoint.post("addEdge", "/me/topologies/:id/edges", {
    params: id,
    headers: idempotencyHeader,
    payload: Schema.Struct({ a: NewHolderKey, b: NewHolderKey }),
    success: done,
    error: [EdgeRefused, IdempotencyKeyReused, LimitReached]
  })
    .annotate(OpenApi.Summary, "Links two agents.")
    .middleware(ReadsBody),
  HttpApiEndpoint.delete("removeEdge", "/me/topologies/:id/edges", {
    params: id,
    payload: Schema.Struct(ends),
    success: done,
    error: EdgeNotFound
  })
    .annotate(OpenApi.Summary, "Removes a link and revokes what it authorized.")
    .middleware(ReadsBody),
  HttpApiEndpoint.put("noteChannel", "/me/topologies/:id/edges/channel", {
    params: id,
    payload: Schema.Struct({ ...ends, channel: Schema.optionalKey(Schema.NullOr(ChannelId)) }),
    success: done,
    error: [ChannelUnrelated, EdgeNotFound]
  })
    .annotate(OpenApi.Summary, "Sets or clears the channel noted at a link; this authorizes nothing.")
    .middleware(ReadsBody),
  HttpApiEndpoint.put("setMode", "/me/topologies/:id/mode", {
    params: id,
    payload: Schema.Struct({ mode: OverlayMode }),
    success: done,
    error: TopologyNotFound
  })
    .annotate(OpenApi.Summary, "Sets the overlay mode.")
    .middleware(ReadsBody),
  HttpApiEndpoint.post("suggest", "/me/topologies/:id/suggest", {
    params: id,
    payload: lossless(SuggestRequest),
    success: lossless(Suggestion),
    error: [TopologyNotFound, NothingToSuggest, ShortcutBudgetTooLarge, TooManyAgents]
  })
    .annotate(OpenApi.Summary, "Computes a set of links with the lowest cost from measured links; writes nothing.")
    .annotate(BodyLimit, maxSuggestBytes)
    .middleware(ReadsBody)
    .middleware(OneAtATime),
  HttpApiEndpoint.put("bindOperator", "/me/topologies/:id/operator", {
    params: id,
    payload: NewOperatorBinding,
    success: done,
    error: TopologyNotFound
  })
    .annotate(OpenApi.Summary, "Binds an operator key with its proof; from then on, links authorize channel admission.")
    .middleware(ReadsBody),
  HttpApiEndpoint.delete("unbindOperator", "/me/topologies/:id/operator", {
    params: id,
    success: done,
    error: TopologyNotFound
  }).annotate(OpenApi.Summary, "Removes the bound operator key."),
  HttpApiEndpoint.post("share", "/me/topologies/:id/share", {
    params: id,
    payload: Schema.Struct({ email: Email }),
    success: done,
    error: [TopologyNotFound, LimitReached]
  })
    .annotate(
      OpenApi.Summary,
      "Allows an account, given by its e-mail address, to view the topology and to link its own agents."
    )
    .middleware(ReadsBody),
  HttpApiEndpoint.post("unshare", "/me/topologies/:id/share/:email/remove", {
    params: { id: TopologyIdInPath, email: Email },
    success: done,
    error: ShareNotFound
  })
    .annotate(OpenApi.Summary, "Stops sharing the topology with an account.")
    .middleware(ReadsParameters)
] as const

export class TopologiesApi extends HttpApiGroup.make("topologies")
  .annotate(OpenApi.Description, "Topologies")
  .add(...writes)
  .middleware(SameOrigin)
  .add(...reads)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}

/** The data of a topology's public page. */
export class NetworksApi extends HttpApiGroup.make("networks")
  .annotate(OpenApi.Description, "Public networks")
  .add(
    HttpApiEndpoint.get("get", "/net/:net_uuid/topology", {
      params: { net_uuid: NetUuidInPath },
      success: PublicTopology,
      error: NetworkUnknown
    }).annotate(OpenApi.Summary, "Returns the agents and edges of a topology, given its public id.")
  )
  .middleware(RateLimit) {}
