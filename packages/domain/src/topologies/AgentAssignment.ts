/**
 * To which topology an agent belongs: to one at most. The first account that assigns an agent owns it, and it returns to that
 * account when it leaves a topology. An account for which the agent's own key has signed takes it from one without such a
 * proof, wherever it is; nothing takes it from an account with a proof.
 */
import { type Result } from "effect"
import { refuse, step, type Step } from "../values/Step.ts"
import { type AgentKind } from "./Topology.ts"

/** `owner` is null for an agent that no account has assigned yet. `proved`: the agent's key has signed for its owner. */
export type Assignment =
  | { readonly _tag: "Unassigned"; readonly owner: string | null; readonly proved: boolean }
  | {
      readonly _tag: "Assigned"
      readonly owner: string
      readonly proved: boolean
      readonly topology: string
      readonly kind: AgentKind
    }

/**
 * `mayEdit`: the subject owns the topology, or it is shared with them. `topologyOwner`: of the topology to which the agent
 * belongs; that owner may send an agent home as well as the agent's own. `proof`: what the agent's key signed, if anything.
 */
export type AssignmentEvent =
  | {
      readonly _tag: "Assign"
      readonly subject: string
      readonly topology: string
      readonly mayEdit: boolean
      readonly kind: AgentKind
      readonly proof: "none" | "valid" | "invalid"
    }
  | { readonly _tag: "Revoke"; readonly subject: string; readonly topologyOwner: string | null }

/** The topology loses the edges at this agent. */
export interface AgentLeft {
  readonly _tag: "AgentLeft"
  readonly topology: string
}

/** In the order in which they are found. `AgentNotFound`: not assigned, or neither the subject's agent nor in their topology. */
export type AssignmentRefusal = {
  readonly _tag: "TopologyNotFound" | "ProofInvalid" | "NotOwner" | "AlreadyAssigned" | "AgentNotFound"
}

/**
 * The machine of one agent.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { type Assignment, transition } from "@catenet/domain/topologies/AgentAssignment"
 *
 * const free: Assignment = { _tag: "Unassigned", owner: null, proved: false }
 * const assign = { _tag: "Assign", subject: "ada", topology: "t", mayEdit: true, kind: "peer", proof: "none" } as const
 * const { next } = Result.getOrThrow(transition(free, assign))
 * assert.deepEqual(next, { _tag: "Assigned", owner: "ada", proved: false, topology: "t", kind: "peer" })
 * assert.deepEqual(Result.flip(transition(next, assign)), Result.succeed({ _tag: "AlreadyAssigned" }))
 * const proved = { ...assign, subject: "bob", topology: "u", proof: "valid" } as const
 * assert.deepEqual(Result.getOrThrow(transition(next, proved)).effects, [{ _tag: "AgentLeft", topology: "t" }])
 * ```
 */
export const transition = (
  state: Assignment,
  event: AssignmentEvent
): Result.Result<Step<Assignment, AgentLeft>, AssignmentRefusal> => {
  const { owner, proved } = state
  if (event._tag === "Revoke") {
    if (state._tag === "Unassigned") return refuse({ _tag: "AgentNotFound" })
    if (event.subject !== owner && event.subject !== event.topologyOwner) return refuse({ _tag: "AgentNotFound" })
    return step<Assignment, AgentLeft>(
      { _tag: "Unassigned", owner, proved },
      { _tag: "AgentLeft", topology: state.topology }
    )
  }
  const { kind, mayEdit, proof, subject, topology } = event
  if (!mayEdit) return refuse({ _tag: "TopologyNotFound" })
  if (proof === "invalid") return refuse({ _tag: "ProofInvalid" })
  const wins = proof === "valid" && !proved
  const isOwn = owner === null || owner === subject
  if (!isOwn && !wins) return refuse({ _tag: "NotOwner" })
  const left = state._tag === "Assigned" ? [{ _tag: "AgentLeft", topology: state.topology } as const] : []
  if (isOwn && state._tag === "Assigned") {
    return wins && state.topology === topology ? step({ ...state, proved: true }) : refuse({ _tag: "AlreadyAssigned" })
  }
  return step<Assignment, AgentLeft>(
    { _tag: "Assigned", owner: subject, proved: wins || proved, topology, kind },
    ...left
  )
}
