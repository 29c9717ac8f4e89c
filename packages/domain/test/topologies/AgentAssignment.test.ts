import { type Assignment, transition } from "@catenet/domain/topologies/AgentAssignment"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often, refusal } from "../values/history.ts"

const owners: Record<string, string> = { t1: "ada", t2: "bob" }
const Event = Schema.Struct({
  revoke: Schema.Literals([true, false, false]),
  agent: between(0, 3),
  subject: Schema.Literals(["ada", "bob", "eve"]),
  topology: Schema.Literals(["t1", "t2"]),
  kind: Schema.Literals(["peer", "super-peer"]),
  proof: Schema.Literals(["none", "none", "valid", "invalid"])
})

describe("agent assignment", () => {
  it.prop(
    "an agent is in at most one topology, comes home to its owner, and is taken from it by a first proof alone",
    [history(Event)],
    ([events]) => {
      const agents = new Map<number, Assignment>()
      const owner = new Map<number, string>()
      const proved = new Set<number>()
      const members: Record<string, Set<number>> = { t1: new Set(), t2: new Set() }
      const topologyOf = (agent: number) => ["t1", "t2"].find((t) => members[t]?.has(agent))
      for (const { agent, kind, proof, revoke, subject, topology } of events) {
        const state = agents.get(agent) ?? { _tag: "Unassigned", owner: null, proved: false }
        const current = topologyOf(agent)
        if (revoke) {
          const topologyOwner = current === undefined ? null : (owners[current] ?? null)
          const answer = transition(state, { _tag: "Revoke", subject, topologyOwner })
          const allowed = current !== undefined && (subject === owner.get(agent) || subject === topologyOwner)
          assert.strictEqual(refusal(answer), allowed ? undefined : "AgentNotFound")
          if (Result.isFailure(answer)) continue
          assert.deepStrictEqual(answer.success, {
            next: { _tag: "Unassigned", owner: owner.get(agent) ?? "", proved: proved.has(agent) },
            effects: [{ _tag: "AgentLeft", topology: current ?? "" }]
          })
          members[current ?? ""]?.delete(agent)
          agents.set(agent, answer.success.next)
          continue
        }
        const mayEdit = subject !== "eve"
        const answer = transition(state, { _tag: "Assign", subject, topology, mayEdit, kind, proof })
        const isForeign = (owner.get(agent) ?? subject) !== subject
        const wins = proof === "valid" && !proved.has(agent)
        const stays = !isForeign && current === topology && wins
        const expected = !mayEdit
          ? "TopologyNotFound"
          : proof === "invalid"
            ? "ProofInvalid"
            : isForeign && !wins
              ? "NotOwner"
              : current !== undefined && !isForeign && !stays
                ? "AlreadyAssigned"
                : undefined
        assert.strictEqual(refusal(answer), expected)
        if (Result.isFailure(answer)) continue
        if (wins) proved.add(agent)
        const kept = stays && state._tag === "Assigned" ? state.kind : kind
        assert.deepStrictEqual(answer.success, {
          next: { _tag: "Assigned", owner: subject, proved: proved.has(agent), topology, kind: kept },
          effects: isForeign && current !== undefined ? [{ _tag: "AgentLeft", topology: current }] : []
        })
        owner.set(agent, subject)
        members[current ?? ""]?.delete(agent)
        members[topology]?.add(agent)
        agents.set(agent, answer.success.next)
        assert.strictEqual(["t1", "t2"].filter((t) => members[t]?.has(agent)).length, 1)
      }
    },
    often
  )
})
