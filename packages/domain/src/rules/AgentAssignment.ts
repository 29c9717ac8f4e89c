/**
 * To which topology an agent belongs: to one at most. The first account that assigns an agent owns it, and it returns to that
 * account when it leaves a topology.
 */
import { type Result } from "effect"
import { type AgentKind } from "../Topology.ts"
import { refuse, step, type Step } from "./Step.ts"

/** `owner` is null for an agent that nobody has assigned yet. */
export type Assignment =
  | { readonly _tag: "Unassigned"; readonly owner: string | null }
  | { readonly _tag: "Assigned"; readonly owner: string; readonly topology: string; readonly kind: AgentKind }

/**
 * `mayEdit`: the subject owns the topology, or it is shared with them. `topologyOwner`: of the topology to which the agent
 * belongs; that owner may send an agent home as well as the agent's own.
 */
export type AssignmentEvent =
  | {
      readonly _tag: "Assign"
      readonly subject: string
      readonly topology: string
      readonly mayEdit: boolean
      readonly kind: AgentKind
    }
  | { readonly _tag: "Revoke"; readonly subject: string; readonly topologyOwner: string | null }

/** The topology loses the edges at this agent. */
export interface AgentLeft {
  readonly _tag: "AgentLeft"
  readonly topology: string
}

/** In the order in which they are found. `AgentNotFound`: not assigned, or neither the subject's agent nor in their topology. */
export type AssignmentRefusal = {
  readonly _tag: "TopologyNotFound" | "NotOwner" | "AlreadyAssigned" | "AgentNotFound"
}

/**
 * The machine of one agent.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { type Assignment, transition } from "@catenet/domain/rules/AgentAssignment"
 *
 * const free: Assignment = { _tag: "Unassigned", owner: null }
 * const assign = { _tag: "Assign", subject: "ada", topology: "t", mayEdit: true, kind: "peer" } as const
 * const { next } = Result.getOrThrow(transition(free, assign))
 * assert.deepEqual(next, { _tag: "Assigned", owner: "ada", topology: "t", kind: "peer" })
 * assert.deepEqual(Result.flip(transition(next, assign)), Result.succeed({ _tag: "AlreadyAssigned" }))
 * ```
 */
export const transition = (
  state: Assignment,
  event: AssignmentEvent
): Result.Result<Step<Assignment, AgentLeft>, AssignmentRefusal> => {
  const { owner } = state
  if (event._tag === "Revoke") {
    if (state._tag === "Unassigned") return refuse({ _tag: "AgentNotFound" })
    if (event.subject !== owner && event.subject !== event.topologyOwner) return refuse({ _tag: "AgentNotFound" })
    return step<Assignment, AgentLeft>({ _tag: "Unassigned", owner }, { _tag: "AgentLeft", topology: state.topology })
  }
  const { kind, mayEdit, subject, topology } = event
  if (!mayEdit) return refuse({ _tag: "TopologyNotFound" })
  if (owner !== null && owner !== subject) return refuse({ _tag: "NotOwner" })
  if (state._tag === "Assigned") return refuse({ _tag: "AlreadyAssigned" })
  return step({ _tag: "Assigned", owner: subject, topology, kind })
}
