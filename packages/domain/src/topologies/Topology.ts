/** A topology says which agents may talk to each other: agents as nodes, undirected edges, one overlay mode. */
import { Effect, Schema, SchemaGetter } from "effect"
import { ChannelId } from "../channels/Channel.ts"
import { boundedArray } from "../values/BoundedArray.ts"
import { NetUuid, Subject, TopologyId } from "../values/Ids.ts"
import {
  HolderKey,
  NewHolderKey,
  NewNoiseKey,
  NewOperatorKey,
  NoiseAttestation,
  OperatorKey,
  Signature
} from "../values/Keys.ts"
import { Count, Uint64 } from "../values/Numbers.ts"
import { describedAs, literal } from "../values/Pattern.ts"
import { label } from "../values/Text.ts"

/** How a node is drawn; it has no effect on admission. */
export const AgentKind = literal(["peer", "super-peer"])
export type AgentKind = typeof AgentKind.Type

const modeNames = ["baseline", "smart-route", "shortcut", "random-mesh"] as const
const modes = literal(modeNames)

/** Read without regard to case and blanks, with `_` for `-`. */
export const OverlayMode = Schema.String.check(describedAs({ enum: [...modeNames] })).pipe(
  Schema.decodeTo(modes, {
    decode: SchemaGetter.transform((text: string) => text.trim().toLowerCase().replaceAll("_", "-")),
    encode: SchemaGetter.passthrough()
  })
)
export type OverlayMode = typeof OverlayMode.Type

/** An undirected edge. In views `a` is not greater than `b`; the channel is a note and authorizes nothing. */
export class TopologyEdge extends Schema.Class<TopologyEdge>("TopologyEdge")({
  a: HolderKey,
  b: HolderKey,
  channel: Schema.optionalKey(ChannelId)
}) {}

/** The ids of a topology: `id` for its owner and editors, `net_uuid` for every visitor that knows it. */
export class TopologyIds extends Schema.Class<TopologyIds>("TopologyIds")({ id: TopologyId, net_uuid: NetUuid }) {}

/** Characters of what an owner calls a topology. */
export const maxTopologyName = 60
export const TopologyName = label(maxTopologyName)

/** A name for a node, for people. */
export const AgentLabel = label(60)

/** The Noise key of an agent for the channel of one of its links, attested by the agent's own key. */
export class AgentNoiseKey extends Schema.Class<AgentNoiseKey>("AgentNoiseKey")({
  channel: ChannelId,
  noise_pubkey: NewNoiseKey,
  noise_attestation: NoiseAttestation
}) {}

/** A named node. */
export class LabelledAgent extends Schema.Class<LabelledAgent>("LabelledAgent")({
  agent: HolderKey,
  label: AgentLabel
}) {}

/** Agents sorted by key, edges sorted by their ends; only named agents have a label. */
export class Topology extends Schema.Class<Topology>("Topology")({
  id: TopologyId,
  net_uuid: NetUuid,
  owner: Subject,
  agents: Schema.Array(Schema.Tuple([HolderKey, AgentKind])),
  edges: Schema.Array(TopologyEdge),
  overlay_mode: OverlayMode,
  labels: Schema.Array(LabelledAgent).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}) {}

/**
 * An agent as it is placed. `proof` is the agent's signature over the topology and the account that places it: with it an
 * account takes the agent from one that placed it without.
 */
export const NewPlacement = Schema.Struct({
  agent: NewHolderKey,
  kind: Schema.optionalKey(AgentKind),
  proof: Schema.optionalKey(Signature)
})
export type NewPlacement = typeof NewPlacement.Type

/** What the public page of a topology shows. */
export class PublicTopology extends Schema.Class<PublicTopology>("PublicTopology")({
  net_uuid: NetUuid,
  agents: Schema.Array(Schema.Tuple([HolderKey, AgentKind])),
  edges: Schema.Array(TopologyEdge),
  overlay_mode: OverlayMode
}) {}

/** The operator's key, and its signature over the topology's id and the key. */
export class OperatorBinding extends Schema.Class<OperatorBinding>("OperatorBinding")({
  operator_pubkey: OperatorKey,
  proof: Signature
}) {}

/** A binding as an owner requests it. */
export const NewOperatorBinding = Schema.Struct({ ...OperatorBinding.fields, operator_pubkey: NewOperatorKey })

/** A link that could be taken, and what it costs. */
export class CandidateLink extends Schema.Class<CandidateLink>("CandidateLink")({
  a: HolderKey,
  b: HolderKey,
  cost: Uint64
}) {}

/** Most extra links that a suggestion may add, and most agents that it is computed for. */
export const maxSuggestBudget = 16
export const maxSuggestAgents = 64

/** As many links as these agents can have, each counted from both ends. */
export const maxSuggestLinks = maxSuggestAgents * (maxSuggestAgents - 1)

/** What a suggestion is computed from. */
export class SuggestRequest extends Schema.Class<SuggestRequest>("SuggestRequest")({
  links: boundedArray(maxSuggestLinks, CandidateLink).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  shortcut_budget: Count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
}) {}

/** A suggestion; nothing is written. In each pair the smaller key comes first. */
export class Suggestion extends Schema.Class<Suggestion>("Suggestion")({
  mode: OverlayMode,
  links: Schema.Array(Schema.Tuple([HolderKey, HolderKey])),
  total_cost: Uint64,
  connected: Schema.Boolean
}) {}
