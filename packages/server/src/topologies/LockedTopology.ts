/**
 * One topology while nobody else changes it, as the rules want it: with no more of it than the command is about. An id
 * that nobody has is a topology that belongs to nobody, so that it takes the way of a foreign one to the same answer.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { TopologyId } from "@catenet/domain/values/Ids"
import * as Rules from "@catenet/domain/topologies/TopologyMachine"
import { Effect, Option } from "effect"
import * as Store from "./TopologyStore.ts"

/** Beside the head: these edges, and whether it is shared with this address too. */
export interface Extent {
  readonly edges?: Store.Edges
  readonly email?: string
}

const nobodys = Rules.created("")

const stateOf = ({ operatorPubkey, overlayMode, owner, shares }: Store.Head): Omit<Rules.Topology, "edges"> => ({
  owner,
  mode: overlayMode,
  shares: new Set(shares),
  binding: operatorPubkey === null ? { _tag: "Unbound" } : { _tag: "Bound", operator: operatorPubkey }
})

export const make = Effect.gen(function* () {
  const store = yield* Store.make

  /** Reads without holding it. */
  const read = Effect.fnUntraced(function* (id: TopologyId, { email }: Caller["Service"], extent: Extent = {}) {
    const emails = [email, extent.email].filter((address) => address !== undefined && address !== null)
    const head = yield* store.head({ id, emails })
    const edges = extent.edges === undefined ? [] : yield* store.edges(id, extent.edges)
    return Option.isNone(head) ? nobodys : { ...stateOf(head.value), edges }
  })

  return {
    read,
    /** Reads what stays as it is until the transaction ends. */
    hold: (id: TopologyId, caller: Caller["Service"], extent?: Extent) =>
      Effect.andThen(store.lock(id), read(id, caller, extent))
  }
})
