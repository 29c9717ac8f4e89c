/** Suggests the links of a topology from their costs. Nothing is written. */
import type { Caller } from "@catenet/domain/api/Access"
import { suggest } from "@catenet/domain/topologies/LinkSuggestion"
import { type SuggestRequest, Suggestion } from "@catenet/domain/topologies/Topology"
import {
  type NothingToSuggest,
  type ShortcutBudgetTooLarge,
  type TooManyAgents,
  type TopologyNotFound
} from "@catenet/domain/topologies/TopologyErrors"
import { requireOwner } from "@catenet/domain/topologies/TopologyMachine"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { Context, Effect, Layer } from "effect"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { makeLockedTopology, TopologyAgentStore, TopologyStore } from "./TopologyStore.ts"

type Account = Caller["Service"]

export class Suggestions extends Context.Service<
  Suggestions,
  {
    readonly suggest: (
      account: Account,
      id: TopologyId,
      request: SuggestRequest
    ) => Effect.Effect<Suggestion, NothingToSuggest | ShortcutBudgetTooLarge | TooManyAgents | TopologyNotFound>
  }
>()("server/topologies/Suggestions") {
  static readonly make = Effect.gen(function* () {
    const agents = yield* TopologyAgentStore
    const locked = yield* makeLockedTopology
    return {
      suggest: Effect.fn("Suggestions.suggest")(function* (
        account: Account,
        id: TopologyId,
        { links, shortcut_budget }: SuggestRequest
      ) {
        const topology = yield* locked.read(id, account)
        const members = yield* agents.membersOf(id)
        yield* Effect.fromResult(requireOwner(topology, account))
        const mode = topology.overlayMode
        const question = { mode, agents: members.map(({ agent }) => agent), links, budget: shortcut_budget }
        const tree = yield* Effect.fromResult(suggest(question))
        return new Suggestion({
          mode,
          links: tree.links,
          total_cost: tree.totalCost,
          connected: tree.connected
        })
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(Suggestions, Suggestions.make).pipe(
    Layer.provide([TopologyStore.layer, TopologyAgentStore.layer])
  )
}
