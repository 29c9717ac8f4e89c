/**
 * Which agent is in which topology. The first account that places an agent owns it, unless the agent's key has signed for
 * another; an agent is in one topology at most, and goes home when its owner or the topology's sends it.
 */
import type { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { native } from "@catenet/crypto/native"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import type { Caller } from "@catenet/domain/api/Access"
import { mostAgentsOfTopology } from "@catenet/domain/values/Caps"
import {
  AgentAssigned,
  AgentNotAssigned,
  NotAgentOwner,
  PlacementProofInvalid,
  TopologyNotFound
} from "@catenet/domain/topologies/TopologyErrors"
import type { TopologyId } from "@catenet/domain/values/Ids"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { type Assignment, type AssignmentRefusal, transition } from "@catenet/domain/topologies/AgentAssignment"
import { audit } from "@catenet/domain/values/AuditEffect"
import { roleOf } from "@catenet/domain/topologies/TopologyMachine"
import type { NewPlacement } from "@catenet/domain/topologies/Topology"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Audits } from "../identity/Audits.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { bytesOf } from "../runtime/Secrets.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { within } from "../store/Within.ts"
import * as AgentStore from "./TopologyAgentStore.ts"
import * as LockedTopology from "./LockedTopology.ts"
import * as Store from "./TopologyStore.ts"

type Account = Caller["Service"]

const refused = ({ _tag }: AssignmentRefusal) => {
  switch (_tag) {
    case "ProofInvalid":
      return new PlacementProofInvalid()
    case "NotOwner":
      return new NotAgentOwner()
    case "AlreadyAssigned":
      return new AgentAssigned()
    default:
      return new TopologyNotFound()
  }
}

export class Assignments extends Context.Service<
  Assignments,
  {
    readonly assign: (
      account: Account,
      id: TopologyId,
      request: NewPlacement,
      key: string | undefined
    ) => Effect.Effect<
      void,
      AgentAssigned | IdempotencyKeyReused | LimitReached | NotAgentOwner | PlacementProofInvalid | TopologyNotFound
    >
    /** The agent leaves, and its edges end. */
    readonly unassign: (
      account: Account,
      id: TopologyId,
      agent: HolderKey
    ) => Effect.Effect<void, AgentNotAssigned | TopologyNotFound>
    /** Names an agent: the owner of the topology any of them, an editor their own. */
    readonly label: (
      account: Account,
      id: TopologyId,
      agent: HolderKey,
      label: string
    ) => Effect.Effect<void, AgentNotAssigned | TopologyNotFound>
  }
>()("server/topologies/Assignments") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const agents = yield* AgentStore.make
    const locked = yield* LockedTopology.make
    const audits = yield* Audits
    const { once } = yield* Idempotency

    const find = Effect.fnUntraced(function* (agent: HolderKey) {
      const row = Option.getOrUndefined(yield* agents.find(agent))
      const [owner, proved] = [row?.owner ?? null, row?.proved ?? false]
      const state: Assignment =
        row === undefined || row.topologyId === null || row.kind === null
          ? { _tag: "Unassigned", owner, proved }
          : { _tag: "Assigned", owner: row.owner, proved, topology: row.topologyId, kind: row.kind }
      return state
    })

    /**
     * A topology and where an agent is, for as long as the transaction lasts. The agent is locked before the topologies, and
     * those in the order of their ids, so that no two commands wait for each other. `there`: the agent may be taken from the
     * topology in which it is.
     */
    const hold = Effect.fnUntraced(function* (account: Account, id: TopologyId, agent: HolderKey, there = false) {
      yield* agents.lock(agent)
      const before = there ? yield* find(agent) : undefined
      if (before?._tag === "Assigned") yield* store.lockAll([id, before.topology])
      const topology = yield* locked.hold(id, account)
      return { topology, state: yield* find(agent) }
    })

    const proofOf = ({ subject }: Account, topologyId: TopologyId, { agent, proof }: NewPlacement) => {
      if (proof === undefined) return "none"
      const placement = { topologyId, subject, holder: bytesOf(agent) }
      return PlacementProof.verify(native, placement, bytesOf(proof)) ? "valid" : "invalid"
    }

    const assign = Effect.fnUntraced(function* (account: Account, id: TopologyId, request: NewPlacement) {
      const { subject } = account
      const { agent, kind = "peer" } = request
      const proof = proofOf(account, id, request)
      const { state, topology } = yield* hold(account, id, agent, proof === "valid")
      const mayEdit = roleOf(topology, account) !== "stranger"
      const event = { _tag: "Assign", subject, topology: id, mayEdit, kind, proof } as const
      const answer = Effect.fromResult(transition(state, event))
      const { effects, next } = yield* Effect.mapError(answer, refused)
      if (next._tag === "Unassigned") return null
      for (const { topology: left } of effects) {
        yield* store.removeEdgesAt(left, agent)
        yield* audits.append(audit("topology_agent_displaced", subject, left, agent))
      }
      const assigned = yield* agents.assign(agent, next)
      yield* within("agents of this topology", mostAgentsOfTopology)(assigned)
      yield* audits.append(audit("topology_agent_assigned", subject, id, agent))
      return null
    })

    return {
      assign: Effect.fn("Assignments.assign")(function* (
        account: Account,
        id: TopologyId,
        request: NewPlacement,
        key: string | undefined
      ) {
        const repeat =
          key === undefined ? undefined : { caller: account.subject, operation: `assign-agent ${id}`, key, request }
        yield* once(repeat, Schema.Null, assign(account, id, request))
      }, sqlOrDie),

      unassign: Effect.fn("Assignments.unassign")(
        function* (account: Account, id: TopologyId, agent: HolderKey) {
          const { subject } = account
          const { state, topology } = yield* hold(account, id, agent)
          const absent = () =>
            roleOf(topology, account) === "stranger" ? new TopologyNotFound() : new AgentNotAssigned()
          if (state._tag === "Unassigned" || state.topology !== id) return yield* absent()
          const event = { _tag: "Revoke", subject, topologyOwner: topology.owner } as const
          yield* Effect.mapError(Effect.fromResult(transition(state, event)), absent)
          yield* agents.release(agent)
          yield* store.removeEdgesAt(id, agent)
          yield* audits.append(audit("topology_agent_unassigned", subject, id, agent))
        },
        store.transaction,
        sqlOrDie
      ),

      label: Effect.fn("Assignments.label")(
        function* (account: Account, id: TopologyId, agent: HolderKey, label: string) {
          const { state, topology } = yield* hold(account, id, agent)
          const role = roleOf(topology, account)
          if (role === "stranger") return yield* new TopologyNotFound()
          const isThere = state._tag === "Assigned" && state.topology === id
          if (!isThere || (role === "editor" && state.owner !== account.subject)) return yield* new AgentNotAssigned()
          yield* agents.label(agent, label)
        },
        store.transaction,
        sqlOrDie
      )
    }
  })

  static readonly layerNoDeps = Layer.effect(Assignments, Assignments.make)
  static readonly layer = Assignments.layerNoDeps.pipe(Layer.provide([Audits.layer, Idempotency.layer]))
}
