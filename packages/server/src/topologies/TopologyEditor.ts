/**
 * What is drawn on a topology: edges with their notes, the overlay mode, and the operator key in whose name the edges
 * admit. Each command holds the topology, asks the rules, and writes their answer, in one transaction.
 */
import type { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Proof from "@catenet/crypto/OperatorBinding"
import type { Caller } from "@catenet/domain/api/Access"
import { mostEdgesOfTopology } from "@catenet/domain/values/Caps"
import type { ChannelId } from "@catenet/domain/channels/Channel"
import {
  ChannelUnrelated,
  EdgeNotFound,
  EdgeRefused,
  TopologyNotFound
} from "@catenet/domain/topologies/TopologyErrors"
import type { TopologyId } from "@catenet/domain/values/Ids"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Link, LinkChange } from "@catenet/domain/topologies/OperatorBinding"
import { type TopologyEvent, type TopologyRefusal, transition } from "@catenet/domain/topologies/TopologyMachine"
import { OperatorBinding, type OverlayMode } from "@catenet/domain/topologies/Topology"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Audits } from "../identity/Audits.ts"
import { ChannelRelations } from "../channels/ChannelRelations.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { bytesOf } from "../runtime/Secrets.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { within } from "../store/Within.ts"
import * as LockedTopology from "./LockedTopology.ts"
import * as Store from "./TopologyStore.ts"

type Account = Caller["Service"]

/** The two ends of an edge, in either order. */
export interface Ends {
  readonly a: HolderKey
  readonly b: HolderKey
}

const inOrder = ({ a, b }: Ends): Link => (a <= b ? { a, b } : { a: b, b: a })

/** The channel that a change opens at an edge; null closes it. */
const linkOf = ({ _tag, a, b, operator }: LinkChange) => {
  const channel = ChannelIds.link(native, bytesOf(operator), bytesOf(a), bytesOf(b))
  return { a, b, link: _tag === "LinkRevoked" ? null : Hex.encode(channel) }
}

const edgeRefused = (refusal: TopologyRefusal) =>
  new EdgeRefused({
    reason: refusal._tag !== "EdgeRefused" || refusal.reason === "no access" ? "no-access" : refusal.reason
  })

interface Act<E, E2, R> {
  readonly event: TopologyEvent
  /** The edges that the event is about. */
  readonly edges?: Store.Edges
  readonly refused: (refusal: TopologyRefusal) => E
  readonly write: Effect.Effect<unknown, E2, R>
  readonly action?: string
  readonly detail?: string
}

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
    /** Writes a channel beside an edge, for people; null takes it away. */
    readonly note: (
      account: Account,
      id: TopologyId,
      ends: Ends,
      channel: ChannelId | null
    ) => Effect.Effect<void, ChannelUnrelated | EdgeNotFound>
    readonly setMode: (account: Account, id: TopologyId, mode: OverlayMode) => Effect.Effect<void, TopologyNotFound>
    /** A key that proves to be its owner's takes the place of the one before. */
    readonly bind: (account: Account, id: TopologyId, binding: OperatorBinding) => Effect.Effect<void, TopologyNotFound>
    readonly unbind: (account: Account, id: TopologyId) => Effect.Effect<void, TopologyNotFound>
    /** The bound key with its proof, for the owner. */
    readonly operator: (account: Account, id: TopologyId) => Effect.Effect<OperatorBinding, TopologyNotFound>
  }
>()("server/topologies/TopologyEditor") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const locked = yield* LockedTopology.make
    const audits = yield* Audits
    const { once } = yield* Idempotency
    const channels = yield* ChannelRelations

    /** Asks the rules about an event, writes it down, and then what it opens and closes. */
    const act = <E, E2, R>(
      account: Account,
      id: TopologyId,
      { action, detail, edges, event, refused, write }: Act<E, E2, R>
    ) =>
      Effect.gen(function* () {
        const topology = yield* locked.hold(id, account, edges === undefined ? {} : { edges })
        const answer = Effect.fromResult(transition(topology, account, event))
        const { effects } = yield* Effect.mapError(answer, refused)
        yield* write
        const links = new Map(effects.map((change) => [`${change.a} ${change.b}`, linkOf(change)]))
        if (links.size > 0) yield* store.setLinks(id, [...links.values()])
        if (action !== undefined) yield* audits.append(audit(action, account.subject, id, detail))
      }).pipe(store.transaction, sqlOrDie)

    const notFound = () => new TopologyNotFound()

    return {
      addEdge: Effect.fn("TopologyEditor.addEdge")(function* (
        account: Account,
        id: TopologyId,
        ends: Ends,
        key: string | undefined
      ) {
        const link = inOrder(ends)
        const added = act(account, id, {
          event: { _tag: "AddEdge", ...ends },
          edges: { link },
          refused: edgeRefused,
          write: Effect.flatMap(store.addEdge(id, link), within("edges of this topology", mostEdgesOfTopology)),
          action: "topology_edge_added",
          detail: `${link.a} ${link.b}`
        })
        const repeat =
          key === undefined ? undefined : { caller: account.subject, operation: `add-edge ${id}`, key, request: ends }
        yield* once(repeat, Schema.Null, Effect.as(added, null))
      }, sqlOrDie),

      removeEdge: Effect.fn("TopologyEditor.removeEdge")((account: Account, id: TopologyId, ends: Ends) => {
        const link = inOrder(ends)
        return act(account, id, {
          event: { _tag: "RemoveEdge", ...ends },
          edges: { link },
          refused: () => new EdgeNotFound(),
          write: store.removeEdge(id, link),
          action: "topology_edge_removed",
          detail: `${link.a} ${link.b}`
        })
      }),

      note: Effect.fn("TopologyEditor.note")(function* (
        account: Account,
        id: TopologyId,
        ends: Ends,
        channel: ChannelId | null
      ) {
        const link = inOrder(ends)
        const mayNote = channel === null || (yield* channels.mayNote(channel, account))
        yield* act(account, id, {
          event: { _tag: "NoteChannel", ...ends, channel, mayNote },
          edges: { link },
          refused: ({ _tag }) => (_tag === "ChannelUnrelated" ? new ChannelUnrelated() : new EdgeNotFound()),
          write: store.note(id, link, channel)
        })
      }),

      setMode: Effect.fn("TopologyEditor.setMode")((account: Account, id: TopologyId, mode: OverlayMode) =>
        act(account, id, { event: { _tag: "SetMode", mode }, refused: notFound, write: store.setMode(id, mode) })
      ),

      bind: Effect.fn("TopologyEditor.bind")(
        (account: Account, id: TopologyId, { operator_pubkey, proof }: OperatorBinding) => {
          const binding = { topologyId: id, operator: bytesOf(operator_pubkey) }
          const proofValid = Proof.verify(native, binding, bytesOf(proof))
          return act(account, id, {
            event: { _tag: "Bind", operator: operator_pubkey, proofValid },
            edges: "all",
            refused: notFound,
            write: store.bind(id, operator_pubkey, proof),
            action: "topology_operator_bound",
            detail: operator_pubkey
          })
        }
      ),

      unbind: Effect.fn("TopologyEditor.unbind")((account: Account, id: TopologyId) =>
        act(account, id, {
          event: { _tag: "Unbind" },
          edges: "all",
          refused: notFound,
          write: store.bind(id, null, null),
          action: "topology_operator_unbound"
        })
      ),

      operator: Effect.fn("TopologyEditor.operator")(function* ({ subject }: Account, id: TopologyId) {
        const head = Option.getOrUndefined(yield* store.head({ id, emails: [] }))
        if (head?.owner !== subject || head.operatorPubkey === null || head.operatorProof === null) {
          return yield* new TopologyNotFound()
        }
        return new OperatorBinding({ operator_pubkey: head.operatorPubkey, proof: head.operatorProof })
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(TopologyEditor, TopologyEditor.make)
  static readonly layer = TopologyEditor.layerNoDeps.pipe(
    Layer.provide([Audits.layer, ChannelRelations.layer, Idempotency.layer])
  )
}
