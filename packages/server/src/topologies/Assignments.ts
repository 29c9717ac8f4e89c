/**
 * Which agent is in which topology. The first account that places an agent owns it, unless the agent's key has signed
 * for another. An agent is in at most one topology, and leaves when its owner or the owner of the topology removes it.
 */
import { native } from "@catenet/crypto/native"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import type { Caller } from "@catenet/domain/api/Access"
import { AttestationRefused } from "@catenet/domain/channels/ChannelErrors"
import {
  assign,
  type Assignment,
  mayKey,
  mayLabel,
  release,
  unassigned
} from "@catenet/domain/topologies/AgentAssignment"
import type { AgentNoiseKey, NewPlacement } from "@catenet/domain/topologies/Topology"
import {
  type AgentAssigned,
  type AgentNotAssigned,
  EdgeNotFound,
  type NotAgentOwner,
  type PlacementProofInvalid,
  type TopologyNotFound
} from "@catenet/domain/topologies/TopologyErrors"
import { roleOf } from "@catenet/domain/topologies/TopologyMachine"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { TopologyId } from "@catenet/domain/values/Ids"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { maxAgentsPerTopology } from "@catenet/domain/values/Quotas"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, Schema } from "effect"
import * as AttestationCheck from "../channels/AttestationCheck.ts"
import { MembershipRevocations } from "../channels/MembershipRevocations.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { inTransaction, sqlOrDie } from "../store/SqlOrDie.ts"
import { makeLockedTopology, TopologyAgentStore, TopologyStore } from "./TopologyStore.ts"

type Account = Caller["Service"]

const dependencies = Effect.gen(function* () {
  const store = yield* TopologyStore
  const agents = yield* TopologyAgentStore
  const locked = yield* makeLockedTopology
  const audits = yield* Audits
  const cuts = yield* MembershipRevocations
  const { once } = yield* Idempotency
  return { agents, audits, cuts, locked, once, store }
})
type State = Effect.Success<typeof dependencies>

const find = ({ agents }: State, agent: HolderKey) =>
  Effect.map(agents.find(agent), (found): Assignment => Option.getOrElse(found, () => unassigned))

/**
 * An agent, and the account's role in a topology, as they stay until the transaction ends. The agent is locked before the
 * topologies, and those in the order of their ids, so that no two commands wait for each other. `moves`: the agent may be
 * taken from the topology in which it is.
 */
const hold = Effect.fnUntraced(function* (
  state: State,
  account: Account,
  topologyId: TopologyId,
  key: HolderKey,
  moves = false
) {
  yield* state.agents.lock(key)
  const left = moves ? (yield* find(state, key)).topologyId : null
  if (left !== null) yield* state.store.lockAll([topologyId, left])
  const role = roleOf(yield* state.locked.hold(topologyId, account), account)
  return { agent: yield* find(state, key), actor: { subject: account.subject, topologyId, role } }
})

const proofOf = ({ subject }: Account, topologyId: TopologyId, { agent, proof }: NewPlacement) => {
  if (proof === undefined) return "none"
  const placement = { topologyId, subject, holder: bytesOf(agent) }
  return PlacementProof.verify(native, placement, bytesOf(proof)) ? "valid" : "invalid"
}

const place = Effect.fnUntraced(function* (state: State, account: Account, id: TopologyId, request: NewPlacement) {
  const { subject } = account
  const { agent: key, kind = "peer" } = request
  const proof = proofOf(account, id, request)
  const { actor, agent } = yield* hold(state, account, id, key, proof === "valid")
  const { effects, next } = yield* Effect.fromResult(assign(agent, { ...actor, kind, proof }))
  for (const { topologyId } of effects) {
    yield* state.cuts.cutAll(yield* state.store.removeEdgesAt(topologyId, key))
    yield* state.store.announce(topologyId)
    yield* state.audits.append(audit("topology_agent_displaced", subject, topologyId, key))
  }
  const assigned = yield* state.agents.assign(key, next)
  yield* insertWithinQuota("agents of this topology", maxAgentsPerTopology)(assigned)
  yield* state.store.announce(id)
  yield* state.audits.append(audit("topology_agent_assigned", subject, id, key))
  return null
})

const unassign = Effect.fn("Assignments.unassign")(function* (
  state: State,
  account: Account,
  id: TopologyId,
  key: HolderKey
) {
  const { actor, agent } = yield* hold(state, account, id, key)
  const { effects } = yield* Effect.fromResult(release(agent, actor))
  yield* state.agents.release(key)
  for (const { topologyId } of effects) yield* state.cuts.cutAll(yield* state.store.removeEdgesAt(topologyId, key))
  yield* state.store.announce(id)
  yield* state.audits.append(audit("topology_agent_unassigned", account.subject, id, key))
}, inTransaction)

const putNoiseKey = Effect.fn("Assignments.putNoiseKey")(function* (
  state: State,
  account: Account,
  id: TopologyId,
  agent: HolderKey,
  key: AgentNoiseKey
) {
  const held = yield* hold(state, account, id, agent)
  yield* Effect.fromResult(mayKey(held.agent, held.actor))
  if (!AttestationCheck.holds(key.channel, { holder: agent, ...key })) return yield* new AttestationRefused()
  const stored = yield* state.agents.putNoiseKey(id, agent, key)
  if (stored.length === 0) return yield* new EdgeNotFound()
  yield* state.audits.append(audit("topology_noise_key_stored", account.subject, id, `${agent} ${key.channel}`))
}, inTransaction)

const label = Effect.fn("Assignments.label")(function* (
  state: State,
  account: Account,
  id: TopologyId,
  key: HolderKey,
  label: string
) {
  const { actor, agent } = yield* hold(state, account, id, key)
  yield* Effect.fromResult(mayLabel(agent, actor))
  yield* state.agents.label(key, label)
  yield* state.store.announce(id)
}, inTransaction)

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
    /** Stores the Noise key of an agent for the channel of one of its links; its owner alone may. */
    readonly putNoiseKey: (
      account: Account,
      id: TopologyId,
      agent: HolderKey,
      key: AgentNoiseKey
    ) => Effect.Effect<void, AgentNotAssigned | AttestationRefused | EdgeNotFound | NotAgentOwner | TopologyNotFound>
    /** Names an agent: the owner of the topology any of them, an editor their own. */
    readonly label: (
      account: Account,
      id: TopologyId,
      agent: HolderKey,
      label: string
    ) => Effect.Effect<void, AgentNotAssigned | TopologyNotFound>
  }
>()("server/topologies/Assignments") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { unassign, putNoiseKey, label }),
    assign: Effect.fn("Assignments.assign")(function* (
      account: Account,
      id: TopologyId,
      request: NewPlacement,
      key: string | undefined
    ) {
      const repeat = { caller: account.subject, operation: `assign-agent ${id}`, key, request }
      yield* state.once(repeat, Schema.Null, place(state, account, id, request))
    }, sqlOrDie)
  }))

  static readonly layer = Layer.effect(Assignments, Assignments.make).pipe(
    Layer.provide([
      Audits.layer,
      Idempotency.layer,
      MembershipRevocations.layer,
      TopologyStore.layer,
      TopologyAgentStore.layer
    ])
  )
}
