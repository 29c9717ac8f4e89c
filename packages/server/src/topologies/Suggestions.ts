/** Which links a topology should have, given what they cost. Nothing is written. */
import type { Caller } from "@catenet/domain/api/Access"
import {
  NothingToSuggest,
  ShortcutBudgetTooLarge,
  TooManyAgents,
  TopologyNotFound
} from "@catenet/domain/topologies/TopologyErrors"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey } from "@catenet/domain/values/Keys"
import { suggest, type SuggestRefusal } from "@catenet/domain/topologies/Suggest"
import { roleOf } from "@catenet/domain/topologies/TopologyMachine"
import { type SuggestRequest, Suggestion } from "@catenet/domain/topologies/Topology"
import { Context, Effect, Layer } from "effect"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as AgentStore from "./TopologyAgentStore.ts"
import * as LockedTopology from "./LockedTopology.ts"

const refused = (refusal: SuggestRefusal) => {
  switch (refusal._tag) {
    case "BaselineMode":
      return new NothingToSuggest()
    case "BudgetTooLarge":
      return new ShortcutBudgetTooLarge({ budget: refusal.budget })
    case "TooManyAgents":
      return new TooManyAgents({ agents: refusal.agents })
  }
}

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
    const agents = yield* AgentStore.make
    const locked = yield* LockedTopology.make
    return {
      suggest: Effect.fn("Suggestions.suggest")(function* (
        account: Account,
        id: TopologyId,
        { links, shortcut_budget }: SuggestRequest
      ) {
        const topology = yield* locked.read(id, account)
        const members = yield* agents.membersOf(id)
        if (roleOf(topology, account) !== "owner") return yield* new TopologyNotFound()
        const { mode } = topology
        const request = { mode, agents: members.map(({ agent }) => agent), links, budget: shortcut_budget }
        const tree = yield* Effect.mapError(Effect.fromResult(suggest(request)), refused)
        return new Suggestion({
          mode,
          links: tree.links.map(([a, b]) => [HolderKey.make(a), HolderKey.make(b)] as const),
          total_cost: tree.totalCost,
          connected: tree.connected
        })
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Suggestions, Suggestions.make)
  static readonly layer = Suggestions.layerNoDeps
}
