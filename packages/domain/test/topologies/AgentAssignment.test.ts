import { assign, type Assignment, mayLabel, release, unassigned } from "@catenet/domain/topologies/AgentAssignment"
import { Subject, TopologyId } from "@catenet/domain/values/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often, refusal } from "../values/history.ts"

const idOf = (name: "t1" | "t2") => Schema.decodeSync(TopologyId)(name === "t1" ? "1".repeat(32) : "2".repeat(32))
const [t1, t2] = [idOf("t1"), idOf("t2")]
const owners: Record<string, string> = { [t1]: "ada", [t2]: "bob" }
const Event = Schema.Struct({
  action: Schema.Literals(["release", "assign", "assign", "label"]),
  agent: between(0, 3),
  subject: Schema.Literals(["ada", "bob", "eve"]),
  topology: Schema.Literals(["t1", "t2"]),
  kind: Schema.Literals(["peer", "super-peer"]),
  proof: Schema.Literals(["none", "none", "valid", "invalid"])
})

describe("agent assignment", () => {
  it.prop(
    "an agent is in at most one topology, returns to its owner, and is taken from it by a first proof alone",
    [history(Event)],
    ([events]) => {
      const agents = new Map<number, Assignment>()
      const owner = new Map<number, string>()
      const proved = new Set<number>()
      const members: Record<string, Set<number>> = { [t1]: new Set(), [t2]: new Set() }
      const topologyOf = (agent: number) => [t1, t2].find((t) => members[t]?.has(agent))
      for (const { action, agent, kind, proof, topology, ...event } of events) {
        const state = agents.get(agent) ?? unassigned
        const subject = Subject.make(event.subject)
        const current = topologyOf(agent)
        const actorIn = (topologyId: TopologyId) =>
          ({
            subject,
            topologyId,
            role: owners[topologyId] === subject ? "owner" : subject === "eve" ? "stranger" : "editor"
          }) as const
        if (action === "release") {
          const actor = actorIn(current ?? idOf(topology))
          const hidden = actor.role === "stranger" ? "TopologyNotFound" : "AgentNotAssigned"
          const other = actorIn(actor.topologyId === t1 ? t2 : t1)
          assert.strictEqual(
            refusal(release(state, other)),
            other.role === "stranger" ? "TopologyNotFound" : "AgentNotAssigned",
            "an agent leaves no topology that it is not in"
          )
          const answer = release(state, actor)
          const allowed = current !== undefined && (subject === owner.get(agent) || subject === owners[current])
          assert.strictEqual(refusal(answer), allowed ? undefined : hidden)
          if (Result.isFailure(answer)) continue
          assert.deepStrictEqual<unknown>(answer.success, {
            next: { owner: owner.get(agent), proved: proved.has(agent), topologyId: null, kind: null },
            effects: [{ _tag: "AgentLeft", topologyId: current }]
          })
          members[current ?? ""]?.delete(agent)
          agents.set(agent, answer.success.next)
          continue
        }
        const topologyId = idOf(topology)
        const actor = actorIn(topologyId)
        if (action === "label") {
          const isPermitted = actor.role === "owner" || (actor.role === "editor" && owner.get(agent) === subject)
          const expected =
            actor.role === "stranger"
              ? "TopologyNotFound"
              : current === topologyId && isPermitted
                ? undefined
                : "AgentNotAssigned"
          assert.strictEqual(refusal(mayLabel(state, actor)), expected)
          continue
        }
        const answer = assign(state, { ...actor, kind, proof })
        const isForeign = (owner.get(agent) ?? subject) !== subject
        const wins = proof === "valid" && !proved.has(agent)
        const stays = !isForeign && current === topologyId && wins
        const expected =
          actor.role === "stranger"
            ? "TopologyNotFound"
            : proof === "invalid"
              ? "PlacementProofInvalid"
              : isForeign && !wins
                ? "NotAgentOwner"
                : current !== undefined && !isForeign && !stays
                  ? "AgentAssigned"
                  : undefined
        assert.strictEqual(refusal(answer), expected)
        if (Result.isFailure(answer)) continue
        if (wins) proved.add(agent)
        const kept = stays ? state.kind : kind
        assert.deepStrictEqual<unknown>(answer.success, {
          next: { owner: subject, proved: proved.has(agent), topologyId, kind: kept },
          effects: isForeign && current !== undefined ? [{ _tag: "AgentLeft", topologyId: current }] : []
        })
        owner.set(agent, subject)
        members[current ?? ""]?.delete(agent)
        members[topologyId]?.add(agent)
        agents.set(agent, answer.success.next)
        assert.strictEqual([t1, t2].filter((t) => members[t]?.has(agent)).length, 1)
      }
    },
    often
  )
})
