import { peersOf } from "@catenet/domain/topologies/OperatorBinding"
import { created, roleOf, transition, withoutAgent } from "@catenet/domain/topologies/TopologyMachine"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { history, often, refusal } from "../values/history.ts"

const agents = ["Aa", "bb", "cc", "dd"]
const Agent = Schema.Literals(agents)
const Actor = Schema.Literals(["owner", "owner", "owner", "editor", "stranger", "bearer"])
const Email = Schema.Literals(["Bob@b.example", "eve@e.example"])
const by = <F extends Schema.Struct.Fields>(fields: F) => ({ actor: Actor, ...fields })
const Event = Schema.Union([
  Schema.TaggedStruct("AddEdge", by({ a: Agent, b: Agent })),
  Schema.TaggedStruct("AddEdge", by({ a: Agent, b: Agent })),
  Schema.TaggedStruct("RemoveEdge", by({ a: Agent, b: Agent })),
  Schema.TaggedStruct(
    "NoteChannel",
    by({ a: Agent, b: Agent, channel: Schema.NullOr(Schema.Literals(["c1", "c2"])), mayNote: Schema.Boolean })
  ),
  Schema.TaggedStruct("SetMode", by({ mode: Schema.Literals(["baseline", "smart-route", "shortcut", "random-mesh"]) })),
  Schema.TaggedStruct("Share", by({ email: Email })),
  Schema.TaggedStruct("Unshare", by({ email: Email })),
  Schema.TaggedStruct(
    "Bind",
    by({ operator: Schema.Literals(["k1", "k2"]), proofValid: Schema.Literals([true, true, false]) })
  ),
  Schema.TaggedStruct("Unbind", by({})),
  Schema.TaggedStruct("AgentLeft", by({ a: Agent }))
])

const actors = {
  owner: { subject: "ada", email: "ada@a.example" },
  editor: { subject: "bob", email: "BOB@b.example" },
  bearer: { subject: "bob", email: null },
  stranger: { subject: "sam", email: "sam@s.example" }
}

describe("topologies", () => {
  it.prop(
    "edges, notes, shares and authorizations over random histories",
    [history(Event)],
    ([events]) => {
      let topology = created("ada")
      const edges = new Map<string, string | null>()
      const shares = new Set<string>()
      let mode = "baseline"
      let operator: string | null = null
      // What the edge servers believe, told by nothing but the effects.
      const admitted = new Set<string>()
      for (const event of events) {
        const actor = actors[event.actor]
        const role =
          event.actor === "owner"
            ? "owner"
            : event.actor === "editor" && shares.has("bob@b.example")
              ? "editor"
              : "stranger"
        assert.strictEqual(roleOf(topology, actor), role)
        if (event._tag === "AgentLeft") {
          const { effects, next } = withoutAgent(topology, event.a.toLowerCase())
          for (const pair of edges.keys()) if (pair.split(" ").includes(event.a.toLowerCase())) edges.delete(pair)
          for (const { _tag, a, b, operator: key } of effects) {
            assert.strictEqual(_tag, "LinkRevoked")
            assert.isTrue(admitted.delete(`${key} ${a} ${b}`))
          }
          topology = next
        } else {
          const { actor: _, ...asked } = event
          const answer = transition(topology, actor, asked)
          const pair = "a" in event ? [event.a.toLowerCase(), event.b.toLowerCase()].toSorted().join(" ") : ""
          const loop = "a" in event && event.a === event.b
          const ownerOnly = role === "owner" ? undefined : "TopologyNotFound"
          let expected: string | undefined
          switch (event._tag) {
            case "AddEdge":
              expected = role === "stranger" || loop || edges.has(pair) ? "EdgeRefused" : undefined
              if (Result.isFailure(answer) && answer.failure._tag === "EdgeRefused")
                assert.strictEqual(
                  answer.failure.reason,
                  role === "stranger" ? "no access" : loop ? "self-loop" : "duplicate"
                )
              if (expected === undefined) edges.set(pair, null)
              break
            case "RemoveEdge":
              expected = role === "stranger" || !edges.has(pair) ? "EdgeNotFound" : undefined
              if (expected === undefined) edges.delete(pair)
              break
            case "NoteChannel":
              expected =
                role === "stranger"
                  ? "TopologyNotFound"
                  : !edges.has(pair)
                    ? "EdgeNotFound"
                    : event.channel !== null && !event.mayNote
                      ? "ChannelUnrelated"
                      : undefined
              if (expected === undefined) edges.set(pair, event.channel)
              break
            case "SetMode":
              expected = ownerOnly
              if (expected === undefined) mode = event.mode
              break
            case "Share":
              expected = ownerOnly
              if (expected === undefined) shares.add(event.email.toLowerCase())
              break
            case "Unshare":
              expected = ownerOnly ?? (shares.has(event.email.toLowerCase()) ? undefined : "ShareNotFound")
              if (expected === undefined) shares.delete(event.email.toLowerCase())
              break
            case "Bind":
              expected = ownerOnly ?? (event.proofValid ? undefined : "TopologyNotFound")
              if (expected === undefined) ({ operator } = event)
              break
            case "Unbind":
              expected = ownerOnly
              if (expected === undefined) operator = null
          }
          assert.strictEqual(refusal(answer), expected, event._tag)
          if (Result.isSuccess(answer)) {
            if (
              event._tag === "Bind" &&
              topology.binding._tag === "Bound" &&
              topology.binding.operator === event.operator
            )
              assert.deepStrictEqual(answer.success.effects, [], "the same key again changes nothing")
            topology = answer.success.next
            for (const { _tag, a, b, operator: key } of answer.success.effects) {
              if (_tag === "LinkRevoked")
                assert.isTrue(admitted.delete(`${key} ${a} ${b}`), "nothing is revoked that was not admitted")
              else {
                assert.strictEqual(_tag, "LinkAuthorized")
                assert.isFalse(admitted.has(`${key} ${a} ${b}`), "nothing is admitted twice")
                admitted.add(`${key} ${a} ${b}`)
              }
            }
          }
        }
        const expectedEdges = [...edges]
          .toSorted(([x], [y]) => (x < y ? -1 : 1))
          .map(([pair, channel]) => {
            const [a, b] = pair.split(" ")
            return { a, b, channel }
          })
        assert.deepStrictEqual<unknown>(topology.edges, expectedEdges)
        assert.deepStrictEqual([...topology.shares].toSorted(), [...shares].toSorted())
        assert.deepStrictEqual<unknown>(
          topology.binding,
          operator === null ? { _tag: "Unbound" } : { _tag: "Bound", operator }
        )
        assert.strictEqual(topology.mode, mode as typeof topology.mode)
        const authorized = operator === null ? [] : [...edges.keys()].map((pair) => `${operator} ${pair}`)
        assert.deepStrictEqual([...admitted].toSorted(), authorized.toSorted())
        for (const agent of agents.map((a) => a.toLowerCase())) {
          const peers =
            operator === null
              ? []
              : [...edges.keys()]
                  .filter((pair) => pair.split(" ").includes(agent))
                  .map((pair) => `${operator} ${pair.split(" ").find((end) => end !== agent)}`)
          assert.deepStrictEqual(
            peersOf(topology.binding, topology.edges, agent)
              .map((p) => `${p.operator} ${p.peer}`)
              .toSorted(),
            peers.toSorted()
          )
        }
      }
    },
    often
  )
})
