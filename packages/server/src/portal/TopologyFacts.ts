/** What the editor of a topology shows to an account, and the name of that state, by which a page knows that it is stale. */
import type { Caller } from "@catenet/domain/api/Access"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { Effect, Option } from "effect"
import { sha256Hex } from "../runtime/Secrets.ts"
import { Topologies } from "../topologies/Topologies.ts"
import { TopologyEditor } from "../topologies/TopologyEditor.ts"

/** The same for the same facts, and for no others. */
export const versionOf = (facts: unknown): string => sha256Hex(JSON.stringify(facts)).slice(0, 16)

export const make = Effect.gen(function* () {
  const topologies = yield* Topologies
  const editor = yield* TopologyEditor

  return Effect.fnUntraced(function* (caller: Caller["Service"], id: TopologyId) {
    const topology = yield* topologies.get(caller, id)
    const owner =
      topology.owner === caller.subject
        ? {
            shares: yield* topologies.shares(caller, id, {}),
            operator: Option.getOrUndefined(yield* Effect.option(editor.operator(caller, id)))
          }
        : undefined
    return { topology, owner, version: versionOf([topology, owner]) }
  })
})
