/**
 * Which topology an agent belongs to: at most one. The first account that assigns an agent owns it, and the agent
 * returns to that account when it leaves a topology. An account with a signature of the agent's key takes it from one
 * without; nothing takes it from an account that has one.
 */
import { Result } from "effect"
import type { Subject, TopologyId } from "../values/Ids.ts"
import { step, type Step } from "../values/Step.ts"
import type { AgentKind } from "./Topology.ts"
import {
  AgentAssigned,
  AgentNotAssigned,
  NotAgentOwner,
  PlacementProofInvalid,
  TopologyNotFound
} from "./TopologyErrors.ts"
import type { Role } from "./TopologyMachine.ts"

/**
 * An agent as it is stored. `owner` is null for an agent that no account has assigned yet; `proved`: the agent's key has
 * signed for its owner; `topologyId` and `kind` are null while it is in no topology.
 */
export interface Assignment {
  readonly owner: Subject | null
  readonly proved: boolean
  readonly topologyId: TopologyId | null
  readonly kind: AgentKind | null
}

/** An agent that is in a topology. */
export interface AssignedAgent extends Assignment {
  readonly owner: Subject
  readonly topologyId: TopologyId
  readonly kind: AgentKind
}

/** An agent that no account has assigned yet. */
export const unassigned: Assignment = { owner: null, proved: false, topologyId: null, kind: null }

/** The topology loses the edges at this agent. */
export interface AgentLeft {
  readonly _tag: "AgentLeft"
  readonly topologyId: TopologyId
}

/** The account that acts on an agent in this topology, and its role there. */
export interface AssignmentActor {
  readonly subject: Subject
  readonly topologyId: TopologyId
  readonly role: Role
}

/** `proof`: what the agent's key signed, if anything. */
export interface AssignmentRequest extends AssignmentActor {
  readonly kind: AgentKind
  readonly proof: "none" | "valid" | "invalid"
}

const left = ({ topologyId }: Assignment): ReadonlyArray<AgentLeft> =>
  topologyId === null ? [] : [{ _tag: "AgentLeft", topologyId }]

/**
 * Assigns an agent to a topology. The errors are in the order in which they are found.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { assign, unassigned } from "@catenet/domain/topologies/AgentAssignment"
 *
 * const request = { subject: "ada", topologyId: "t", role: "owner", kind: "peer", proof: "none" } as const
 * const { next } = Result.getOrThrow(assign(unassigned, request))
 * assert.deepEqual(next, { owner: "ada", proved: false, topologyId: "t", kind: "peer" })
 * assert.ok(Result.isFailure(assign(next, request)))
 * const proved = { ...request, subject: "bob", topologyId: "u", proof: "valid" } as const
 * assert.deepEqual(Result.getOrThrow(assign(next, proved)).effects, [{ _tag: "AgentLeft", topologyId: "t" }])
 * ```
 */
export const assign = (
  agent: Assignment,
  { kind, proof, role, subject, topologyId }: AssignmentRequest
): Result.Result<
  Step<AssignedAgent, AgentLeft>,
  TopologyNotFound | PlacementProofInvalid | NotAgentOwner | AgentAssigned
> => {
  if (role === "stranger") return Result.fail(new TopologyNotFound())
  if (proof === "invalid") return Result.fail(new PlacementProofInvalid())
  const wins = proof === "valid" && !agent.proved
  const isOwn = agent.owner === null || agent.owner === subject
  if (!isOwn && !wins) return Result.fail(new NotAgentOwner())
  if (isOwn && agent.topologyId !== null) {
    return wins && agent.topologyId === topologyId
      ? step({ owner: subject, proved: true, topologyId, kind: agent.kind ?? kind })
      : Result.fail(new AgentAssigned())
  }
  return Result.succeed({
    next: { owner: subject, proved: wins || agent.proved, topologyId, kind },
    effects: left(agent)
  })
}

const absent = ({ role }: AssignmentActor) => (role === "stranger" ? new TopologyNotFound() : new AgentNotAssigned())

/**
 * Takes an agent out of a topology: the owner of the topology any agent, every other account its own.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { release } from "@catenet/domain/topologies/AgentAssignment"
 *
 * const agent = { owner: "bob", proved: false, topologyId: "t", kind: "peer" } as const
 * const actor = { subject: "ada", topologyId: "t", role: "owner" } as const
 * assert.equal(Result.getOrThrow(release(agent, actor)).next.topologyId, null)
 * assert.ok(Result.isFailure(release(agent, { ...actor, role: "editor" })))
 * ```
 */
export const release = (
  agent: Assignment,
  actor: AssignmentActor
): Result.Result<Step<Assignment, AgentLeft>, TopologyNotFound | AgentNotAssigned> =>
  agent.topologyId === actor.topologyId && (actor.role === "owner" || actor.subject === agent.owner)
    ? Result.succeed({ next: { ...agent, topologyId: null, kind: null }, effects: left(agent) })
    : Result.fail(absent(actor))

/**
 * Whether an account may say which Noise key an agent in a topology has: its owner alone, who is in the topology.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { mayKey } from "@catenet/domain/topologies/AgentAssignment"
 *
 * const agent = { owner: "bob", proved: false, topologyId: "t", kind: "peer" } as const
 * assert.ok(Result.isSuccess(mayKey(agent, { subject: "bob", topologyId: "t", role: "editor" })))
 * assert.ok(Result.isFailure(mayKey(agent, { subject: "ada", topologyId: "t", role: "owner" })))
 * ```
 */
export const mayKey = (
  agent: Assignment,
  actor: AssignmentActor
): Result.Result<void, TopologyNotFound | AgentNotAssigned | NotAgentOwner> => {
  if (actor.role === "stranger" || agent.topologyId !== actor.topologyId) return Result.fail(absent(actor))
  return agent.owner === actor.subject ? Result.void : Result.fail(new NotAgentOwner())
}

/**
 * Whether an account may name an agent in a topology: its owner any agent, an editor its own.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { mayLabel } from "@catenet/domain/topologies/AgentAssignment"
 *
 * const agent = { owner: "bob", proved: false, topologyId: "t", kind: "peer" } as const
 * assert.ok(Result.isSuccess(mayLabel(agent, { subject: "bob", topologyId: "t", role: "editor" })))
 * assert.ok(Result.isFailure(mayLabel(agent, { subject: "bob", topologyId: "t", role: "stranger" })))
 * ```
 */
export const mayLabel = (
  agent: Assignment,
  actor: AssignmentActor
): Result.Result<void, TopologyNotFound | AgentNotAssigned> => {
  const { role, subject, topologyId } = actor
  const isPermitted = role === "owner" || (role === "editor" && agent.owner === subject)
  return isPermitted && agent.topologyId === topologyId ? Result.void : Result.fail(absent(actor))
}
