/** Refusals of topologies: agents, edges, overlay suggestions, operator binding and sharing. */
import { Schema } from "effect"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"
import { maxSuggestAgents, maxSuggestBudget } from "./Topology.ts"

/**
 * The topology does not exist or is not accessible to the account, or a proof does not bind it; the response does
 * not distinguish these.
 */
export class TopologyNotFound extends Problem<TopologyNotFound>()("TopologyNotFound", {
  status: 404,
  title: "Topology not found",
  detail: () => "No topology of yours has this id, or the proof in the request is missing or invalid."
}) {}

/** The account has reached its limit of topologies. */
export class TopologyLimitReached extends Problem<TopologyLimitReached>()(
  "TopologyLimitReached",
  {
    status: 403,
    title: "Topology limit reached",
    detail: ({ limit }) => `Your account has reached its limit of ${limit} topologies.`
  },
  { limit: Count }
) {}

/** No topology has this public id. */
export class NetworkUnknown extends Problem<NetworkUnknown>()("NetworkUnknown", {
  status: 404,
  title: "Network unknown",
  detail: () => "There is no such network."
}) {}

/** The proof is not the signature of the agent's key over this topology and this account. */
export class PlacementProofInvalid extends Problem<PlacementProofInvalid>()("PlacementProofInvalid", {
  status: 403,
  title: "Proof of placement invalid",
  detail: () => "The proof is not the agent's signature over this topology and your account."
}) {}

/** Another account placed this agent first, or the agent's key has signed for another account. */
export class NotAgentOwner extends Problem<NotAgentOwner>()("NotAgentOwner", {
  status: 403,
  title: "Not the owner of the agent",
  detail: () => "This agent belongs to another account."
}) {}

/** The agent is already in a topology, possibly this one. */
export class AgentAssigned extends Problem<AgentAssigned>()("AgentAssigned", {
  status: 409,
  title: "Agent already assigned",
  detail: () => "This agent is in a topology already; an agent is in at most one."
}) {}

/** The agent is not in this topology. */
export class AgentNotAssigned extends Problem<AgentNotAssigned>()("AgentNotAssigned", {
  status: 404,
  title: "Agent not in the topology",
  detail: () => "This agent is not in the topology."
}) {}

const edgeReasons = {
  "self-loop": "an edge has two different ends",
  duplicate: "the edge exists",
  "no-access": "you cannot edit this topology"
}

/** The edge cannot be added. */
export class EdgeRefused extends Problem<EdgeRefused>()(
  "EdgeRefused",
  {
    status: 409,
    title: "Edge refused",
    detail: ({ reason }) => `The edge was not added: ${edgeReasons[reason]}.`
  },
  { reason: Schema.Literals(["self-loop", "duplicate", "no-access"]) }
) {}

/** The edge does not exist, or the account cannot edit the topology. */
export class EdgeNotFound extends Problem<EdgeNotFound>()("EdgeNotFound", {
  status: 404,
  title: "Edge not found",
  detail: () => "There is no edge between these agents that you may edit."
}) {}

/** The account neither owns the channel nor is on its allow-list. */
export class ChannelUnrelated extends Problem<ChannelUnrelated>()("ChannelUnrelated", {
  status: 403,
  title: "Channel not yours",
  detail: () => "A note may name a channel that you own or that your e-mail address is allow-listed on."
}) {}

/** The links of a baseline overlay are set by hand, so none are suggested. */
export class NothingToSuggest extends Problem<NothingToSuggest>()("NothingToSuggest", {
  status: 409,
  title: "Nothing to suggest",
  detail: () => "The topology is in baseline mode; choose another overlay mode to have links suggested."
}) {}

/** The number of shortcuts in a suggestion is limited; the response states the limit. */
export class ShortcutBudgetTooLarge extends Problem<ShortcutBudgetTooLarge>()(
  "ShortcutBudgetTooLarge",
  {
    status: 400,
    title: "Shortcut budget too large",
    detail: ({ budget }) => `A suggestion adds at most ${maxSuggestBudget} shortcuts, not ${budget}.`
  },
  { budget: Count }
) {}

/** The number of agents in a suggestion is limited; the response states the limit. */
export class TooManyAgents extends Problem<TooManyAgents>()(
  "TooManyAgents",
  {
    status: 400,
    title: "Too many agents",
    detail: ({ agents }) => `A suggestion is computed for at most ${maxSuggestAgents} agents, not ${agents}.`
  },
  { agents: Count }
) {}

/**
 * The topology belongs to another account, or is not shared with this address; the response does not distinguish the
 * two.
 */
export class ShareNotFound extends Problem<ShareNotFound>()("ShareNotFound", {
  status: 404,
  title: "Share not found",
  detail: () => "No topology of yours is shared with this address."
}) {}
