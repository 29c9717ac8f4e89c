/**
 * Which agent is in which topology. The first account that places an agent owns it; an agent is in one topology at most,
 * and goes home when its owner or the topology's sends it.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { mostAgentsOfTopology } from "@catenet/domain/Caps"
import { AgentAssigned, AgentNotAssigned, NotAgentOwner, TopologyNotFound } from "@catenet/domain/errors/Topologies"
import type { TopologyId } from "@catenet/domain/Ids"
import type { HolderKey } from "@catenet/domain/Keys"
import { type Assignment, type AssignmentRefusal, transition } from "@catenet/domain/rules/AgentAssignment"
import { audit } from "@catenet/domain/rules/Audit"
import { roleOf } from "@catenet/domain/rules/Topology"
import type { AgentKind } from "@catenet/domain/Topology"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Audits } from "../audit/Audits.ts"
import { Idempotency } from "../idempotency/Idempotency.ts"
import { asDefects } from "../store/Defects.ts"
import { within } from "../store/Within.ts"
import * as AgentStore from "./AgentStore.ts"
import * as Held from "./Held.ts"
import * as Store from "./Store.ts"

type Account = Caller["Service"]

const refused = ({ _tag }: AssignmentRefusal) => {
  switch (_tag) {
    case "NotOwner":
      return new NotAgentOwner()
    case "AlreadyAssigned":
      return new AgentAssigned()
    default:
      return new TopologyNotFound()
  }
}

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const agents = yield* AgentStore.make
  const held = yield* Held.make
  const audits = yield* Audits
  const { once } = yield* Idempotency

  /** Where an agent is, for as long as the transaction lasts. */
  const place = Effect.fnUntraced(function* (agent: HolderKey) {
    yield* agents.lock(agent)
    const row = Option.getOrUndefined(yield* agents.find(agent))
    const owner = row?.owner ?? null
    const state: Assignment =
      row === undefined || row.topologyId === null || row.kind === null
        ? { _tag: "Unassigned", owner }
        : { _tag: "Assigned", owner: row.owner, topology: row.topologyId, kind: row.kind }
    return state
  })

  const assign = Effect.fnUntraced(function* (account: Account, id: TopologyId, agent: HolderKey, kind: AgentKind) {
    const { subject } = account
    const mayEdit = roleOf(yield* held.hold(id, account), account) !== "stranger"
    const event = { _tag: "Assign", subject, topology: id, mayEdit, kind } as const
    yield* Effect.mapError(Effect.fromResult(transition(yield* place(agent), event)), refused)
    const assigned = yield* agents.assign(agent, subject, id, kind)
    yield* within("agents of this topology", mostAgentsOfTopology)(assigned)
    yield* audits.append(audit("topology_agent_assigned", subject, id, agent))
    return null
  })

  return {
    assign: Effect.fn("Assignments.assign")(function* (
      account: Account,
      id: TopologyId,
      request: { readonly agent: HolderKey; readonly kind?: AgentKind },
      key: string | undefined
    ) {
      const { agent, kind = "peer" } = request
      const repeat =
        key === undefined ? undefined : { caller: account.subject, operation: `assign-agent ${id}`, key, request }
      yield* once(repeat, Schema.Null, assign(account, id, agent, kind))
    }, asDefects),

    /** The agent leaves, and its edges end. */
    unassign: Effect.fn("Assignments.unassign")(
      function* (account: Account, id: TopologyId, agent: HolderKey) {
        const { subject } = account
        const topology = yield* held.hold(id, account)
        const state = yield* place(agent)
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
      asDefects
    ),

    /** Names an agent: the owner of the topology any of them, an editor their own. */
    label: Effect.fn("Assignments.label")(
      function* (account: Account, id: TopologyId, agent: HolderKey, label: string) {
        const role = roleOf(yield* held.hold(id, account), account)
        if (role === "stranger") return yield* new TopologyNotFound()
        const state = yield* place(agent)
        const isThere = state._tag === "Assigned" && state.topology === id
        if (!isThere || (role === "editor" && state.owner !== account.subject)) return yield* new AgentNotAssigned()
        yield* agents.label(agent, label)
      },
      store.transaction,
      asDefects
    )
  }
})

export class Assignments extends Context.Service<Assignments, Effect.Success<typeof make>>()("server/Assignments") {
  static readonly layer = Layer.effect(Assignments, make)
}
