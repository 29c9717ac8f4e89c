/**
 * Changes a topology: edges with their notes, the overlay mode, and the operator key for which its edges admit agents.
 * Each command locks the topology, runs the state machine, and stores the result, in one transaction.
 */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Proof from "@catenet/crypto/OperatorBinding"
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId } from "@catenet/domain/channels/Channel"
import type { LinkChange } from "@catenet/domain/topologies/OperatorBinding"
import { OperatorBinding, type OverlayMode } from "@catenet/domain/topologies/Topology"
import {
  type ChannelUnrelated,
  type EdgeNotFound,
  type EdgeRefused,
  TopologyNotFound
} from "@catenet/domain/topologies/TopologyErrors"
import {
  addEdge,
  bind,
  type Ends,
  linkOf,
  noteChannel,
  removeEdge,
  setMode,
  type TopologyState,
  unbind
} from "@catenet/domain/topologies/TopologyMachine"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { maxEdgesPerTopology } from "@catenet/domain/values/Quotas"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import type { Step } from "@catenet/domain/values/Step"
import { Context, Effect, Layer, Option, type Result, Schema } from "effect"
import { ChannelRelations } from "../channels/ChannelRelations.ts"
import { MembershipRevocations } from "../channels/MembershipRevocations.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { type Edges, makeLockedTopology, TopologyStore } from "./TopologyStore.ts"

type Account = Caller["Service"]

const channelOf = ({ a, b, operator }: LinkChange) =>
  ChannelId.make(Hex.encode(ChannelIds.link(native, bytesOf(operator), bytesOf(a), bytesOf(b))))

/** The channel that a change opens at an edge; null closes it. */
const openedBy = (change: LinkChange) => ({
  a: change.a,
  b: change.b,
  link: change._tag === "LinkRevoked" ? null : channelOf(change)
})

interface Command<E, E2, R> {
  /** The edges that the command is about. */
  readonly edges?: Edges
  readonly decide: (topology: TopologyState) => Result.Result<Step<TopologyState, LinkChange>, E>
  readonly write: Effect.Effect<unknown, E2, R>
  readonly action?: string
  readonly detail?: string
}

const dependencies = Effect.gen(function* () {
  const store = yield* TopologyStore
  const locked = yield* makeLockedTopology
  const audits = yield* Audits
  const cuts = yield* MembershipRevocations
  const { once } = yield* Idempotency
  const channels = yield* ChannelRelations
  return { audits, channels, cuts, locked, once, store }
})
type State = Effect.Success<typeof dependencies>

/** Decides about a command while the topology is held, stores its change, and then what that opens and closes. */
const run = <E, E2, R>(
  { audits, cuts, locked, store }: State,
  account: Account,
  id: TopologyId,
  { action, decide, detail, edges = "none", write }: Command<E, E2, R>
) =>
  Effect.gen(function* () {
    const { effects } = yield* Effect.fromResult(decide(yield* locked.hold(id, account, { edges })))
    yield* write
    const links = new Map(effects.map((change) => [`${change.a} ${change.b}`, openedBy(change)]))
    if (links.size > 0) yield* store.setLinks(id, [...links.values()])
    yield* store.announce(id)
    for (const change of effects) if (change._tag === "LinkRevoked") yield* cuts.cut(channelOf(change))
    if (action !== undefined) yield* audits.append(audit(action, account.subject, id, detail))
  }).pipe(store.transaction, sqlOrDie)

const note = Effect.fn("TopologyEditor.note")(function* (
  state: State,
  account: Account,
  id: TopologyId,
  ends: Ends,
  channel: ChannelId | null
) {
  const link = linkOf(ends)
  const mayNote = channel === null || (yield* state.channels.mayNote(channel, account))
  yield* run(state, account, id, {
    edges: link,
    decide: (topology) => noteChannel(topology, account, { ...link, channel, mayNote }),
    write: state.store.note(id, link, channel)
  })
})

const operator = Effect.fn("TopologyEditor.operator")(function* (
  { store }: State,
  { subject }: Account,
  id: TopologyId
) {
  const head = Option.getOrUndefined(yield* store.head({ id, emails: [] }))
  if (head?.owner !== subject || head.operatorPubkey === null || head.operatorProof === null) {
    return yield* new TopologyNotFound()
  }
  return new OperatorBinding({ operator_pubkey: head.operatorPubkey, proof: head.operatorProof })
}, sqlOrDie)

export class TopologyEditor extends Context.Service<
  TopologyEditor,
  {
    readonly addEdge: (
      account: Account,
      id: TopologyId,
      ends: Ends,
      key: string | undefined
    ) => Effect.Effect<void, EdgeRefused | IdempotencyKeyReused | LimitReached>
    readonly removeEdge: (account: Account, id: TopologyId, ends: Ends) => Effect.Effect<void, EdgeNotFound>
    /** Notes a channel at an edge, for people; null takes the note away. */
    readonly note: (
      account: Account,
      id: TopologyId,
      ends: Ends,
      channel: ChannelId | null
    ) => Effect.Effect<void, ChannelUnrelated | EdgeNotFound>
    readonly setMode: (account: Account, id: TopologyId, mode: OverlayMode) => Effect.Effect<void, TopologyNotFound>
    /** Binds a key with its proof, in place of an earlier key. */
    readonly bind: (account: Account, id: TopologyId, binding: OperatorBinding) => Effect.Effect<void, TopologyNotFound>
    readonly unbind: (account: Account, id: TopologyId) => Effect.Effect<void, TopologyNotFound>
    /** The bound key with its proof, for the owner. */
    readonly operator: (account: Account, id: TopologyId) => Effect.Effect<OperatorBinding, TopologyNotFound>
  }
>()("server/topologies/TopologyEditor") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { note, operator }),
    addEdge: Effect.fn("TopologyEditor.addEdge")(function* (
      account: Account,
      id: TopologyId,
      ends: Ends,
      key: string | undefined
    ) {
      const link = linkOf(ends)
      const added = run(state, account, id, {
        edges: link,
        decide: (topology) => addEdge(topology, account, link),
        write: Effect.flatMap(
          state.store.addEdge(id, link),
          insertWithinQuota("edges of this topology", maxEdgesPerTopology)
        ),
        action: "topology_edge_added",
        detail: `${link.a} ${link.b}`
      })
      const repeat = { caller: account.subject, operation: `add-edge ${id}`, key, request: ends }
      yield* state.once(repeat, Schema.Null, Effect.as(added, null))
    }, sqlOrDie),
    removeEdge: Effect.fn("TopologyEditor.removeEdge")((account: Account, id: TopologyId, ends: Ends) => {
      const link = linkOf(ends)
      return run(state, account, id, {
        edges: link,
        decide: (topology) => removeEdge(topology, account, link),
        write: state.store.removeEdge(id, link),
        action: "topology_edge_removed",
        detail: `${link.a} ${link.b}`
      })
    }),
    setMode: Effect.fn("TopologyEditor.setMode")((account: Account, id: TopologyId, mode: OverlayMode) =>
      run(state, account, id, {
        decide: (topology) => setMode(topology, account, mode),
        write: state.store.setMode(id, mode)
      })
    ),
    bind: Effect.fn("TopologyEditor.bind")(
      (account: Account, id: TopologyId, { operator_pubkey, proof }: OperatorBinding) => {
        const binding = { topologyId: id, operator: bytesOf(operator_pubkey) }
        const proofValid = Proof.verify(native, binding, bytesOf(proof))
        return run(state, account, id, {
          edges: "all",
          decide: (topology) => bind(topology, account, operator_pubkey, proofValid),
          write: state.store.bind(id, operator_pubkey, proof),
          action: "topology_operator_bound",
          detail: operator_pubkey
        })
      }
    ),
    unbind: Effect.fn("TopologyEditor.unbind")((account: Account, id: TopologyId) =>
      run(state, account, id, {
        edges: "all",
        decide: (topology) => unbind(topology, account),
        write: state.store.bind(id, null, null),
        action: "topology_operator_unbound"
      })
    )
  }))

  static readonly layer = Layer.effect(TopologyEditor, TopologyEditor.make).pipe(
    Layer.provide([
      Audits.layer,
      ChannelRelations.layer,
      Idempotency.layer,
      MembershipRevocations.layer,
      TopologyStore.layer
    ])
  )
}
