/**
 * One topology while no other command changes it, with no more of it than the command is about. An id that no topology has is
 * read as a topology without an owner, so that it gets the same answer as a topology of another account.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { created, type TopologyState } from "@catenet/domain/topologies/TopologyMachine"
import type { Email } from "@catenet/domain/values/Email"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { Effect, Option } from "effect"
import * as Store from "./TopologyStore.ts"

/** Beside the head: these edges, and whether the topology is shared with this address too. */
export interface Extent {
  readonly edges?: Store.Edges
  readonly email?: Email
}

const unknown = created(null)

export const make = Effect.gen(function* () {
  const store = yield* Store.make

  /** Reads without a lock. */
  const read = Effect.fnUntraced(function* (
    id: TopologyId,
    { email }: Caller["Service"],
    { edges = "none", email: other }: Extent = {}
  ) {
    const emails = [email, other].filter((address) => address !== undefined && address !== null)
    const head = Option.getOrUndefined(yield* store.head({ id, emails }))
    if (head === undefined) return unknown
    return { ...head, edges: yield* store.edges(id, edges) } satisfies TopologyState
  })

  return {
    read,
    /** Reads what stays as it is until the transaction ends. */
    hold: (id: TopologyId, caller: Caller["Service"], extent?: Extent) =>
      Effect.andThen(store.lock(id), read(id, caller, extent))
  }
})
