import { ChannelId } from "@catenet/domain/channels/Channel"
import type { LinkChange } from "@catenet/domain/topologies/OperatorBinding"
import { EdgeRefused } from "@catenet/domain/topologies/TopologyErrors"
import * as Machine from "@catenet/domain/topologies/TopologyMachine"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { HolderKey, OperatorKey } from "@catenet/domain/values/Keys"
import type { Step } from "@catenet/domain/values/Step"
import { peersOf, withoutAgent } from "@catenet/testing/domain/topologies/DrawnTopology"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { history, often, refusal } from "../values/history.ts"

const agents = ["Aa", "bb", "cc", "dd"].map((pair) => pair.repeat(32))
const Agent = Schema.Literals(agents)
const Actor = Schema.Literals(["owner", "owner", "owner", "editor", "stranger", "bearer"])
const Address = Schema.Literals(["Bob@b.example", "eve@e.example"])
const by = <F extends Schema.Struct.Fields>(fields: F) => ({ actor: Actor, ...fields })
const Event = Schema.Union([
  Schema.TaggedStruct("AddEdge", by({ a: Agent, b: Agent })),
  Schema.TaggedStruct("AddEdge", by({ a: Agent, b: Agent })),
  Schema.TaggedStruct("RemoveEdge", by({ a: Agent, b: Agent })),
  Schema.TaggedStruct(
    "NoteChannel",
    by({
      a: Agent,
      b: Agent,
      channel: Schema.NullOr(Schema.Literals(["c1", "c2"].map((pair) => pair.repeat(32)))),
      mayNote: Schema.Boolean
    })
  ),
  Schema.TaggedStruct("SetMode", by({ mode: Schema.Literals(["baseline", "smart-route", "shortcut", "random-mesh"]) })),
  Schema.TaggedStruct("Share", by({ email: Address })),
  Schema.TaggedStruct("Unshare", by({ email: Address })),
  Schema.TaggedStruct(
    "Bind",
    by({
      operator: Schema.Literals(["e1", "e2"].map((pair) => pair.repeat(32))),
      proofValid: Schema.Literals([true, true, false])
    })
  ),
  Schema.TaggedStruct("Unbind", by({})),
  Schema.TaggedStruct("AgentLeft", by({ a: Agent }))
])

const keyOf = Schema.decodeSync(HolderKey)
const operatorOf = Schema.decodeSync(OperatorKey)
const emailOf = Schema.decodeSync(Email)
const channelOf = Schema.decodeSync(ChannelId)
const actorOf = (subject: string, email: string | null): Machine.Actor => ({
  subject: Subject.make(subject),
  email: email === null ? null : emailOf(email)
})
const actors = {
  owner: actorOf("ada", "ada@a.example"),
  editor: actorOf("bob", "BOB@b.example"),
  bearer: actorOf("bob", null),
  stranger: actorOf("sam", "sam@s.example")
}

/** The answer of the machine's function for an event. */
const answerTo = (
  topology: Machine.TopologyState,
  actor: Machine.Actor,
  event: Exclude<typeof Event.Type, { readonly _tag: "AgentLeft" }>
): Result.Result<Step<Machine.TopologyState, LinkChange>, { readonly _tag: string }> => {
  switch (event._tag) {
    case "AddEdge":
      return Machine.addEdge(topology, actor, { a: keyOf(event.a), b: keyOf(event.b) })
    case "RemoveEdge":
      return Machine.removeEdge(topology, actor, { a: keyOf(event.a), b: keyOf(event.b) })
    case "NoteChannel": {
      const channel = event.channel === null ? null : channelOf(event.channel)
      const note = { a: keyOf(event.a), b: keyOf(event.b), channel, mayNote: event.mayNote }
      return Machine.noteChannel(topology, actor, note)
    }
    case "SetMode":
      return Machine.setMode(topology, actor, event.mode)
    case "Share":
      return Machine.share(topology, actor, emailOf(event.email))
    case "Unshare":
      return Machine.unshare(topology, actor, emailOf(event.email))
    case "Bind":
      return Machine.bind(topology, actor, operatorOf(event.operator), event.proofValid)
    case "Unbind":
      return Machine.unbind(topology, actor)
  }
}

describe("topologies", () => {
  it.prop(
    "edges, notes, shares and authorizations over random histories",
    [history(Event)],
    ([events]) => {
      let topology = Machine.created(Subject.make("ada"))
      const edges = new Map<string, string | null>()
      const shares = new Set<string>()
      let mode = "baseline"
      let operator: string | null = null
      // What the edge servers admit, as nothing but the effects has it.
      const admitted = new Set<string>()
      for (const event of events) {
        const actor = actors[event.actor]
        const role =
          event.actor === "owner"
            ? "owner"
            : event.actor === "editor" && shares.has("bob@b.example")
              ? "editor"
              : "stranger"
        assert.strictEqual(Machine.roleOf(topology, actor), role)
        assert.strictEqual(Result.isSuccess(Machine.requireOwner(topology, actor)), role === "owner")
        if (event._tag === "AgentLeft") {
          const { effects, next } = withoutAgent(topology, keyOf(event.a))
          for (const pair of edges.keys()) if (pair.split(" ").includes(event.a.toLowerCase())) edges.delete(pair)
          for (const { _tag, a, b, operator: key } of effects) {
            assert.strictEqual(_tag, "LinkRevoked")
            assert.isTrue(admitted.delete(`${key} ${a} ${b}`))
          }
          topology = next
        } else {
          const answer = answerTo(topology, actor, event)
          const pair = "a" in event ? [event.a.toLowerCase(), event.b.toLowerCase()].toSorted().join(" ") : ""
          const loop = "a" in event && event.a === event.b
          const ownerOnly = role === "owner" ? undefined : "TopologyNotFound"
          let expected: string | undefined
          switch (event._tag) {
            case "AddEdge":
              expected = role === "stranger" || loop || edges.has(pair) ? "EdgeRefused" : undefined
              if (Result.isFailure(answer) && answer.failure instanceof EdgeRefused)
                assert.strictEqual(
                  answer.failure.reason,
                  role === "stranger" ? "no-access" : loop ? "self-loop" : "duplicate"
                )
              if (expected === undefined) edges.set(pair, null)
              break
            case "RemoveEdge":
              expected = role === "stranger" || !edges.has(pair) ? "EdgeNotFound" : undefined
              if (expected === undefined) edges.delete(pair)
              break
            case "NoteChannel":
              expected =
                role === "stranger" || !edges.has(pair)
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
              expected = role === "owner" && shares.has(event.email.toLowerCase()) ? undefined : "ShareNotFound"
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
            if (event._tag === "Bind" && topology.operatorPubkey === event.operator)
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
        assert.strictEqual<string | null>(topology.operatorPubkey, operator)
        assert.strictEqual<string>(topology.overlayMode, mode)
        const authorized = operator === null ? [] : [...edges.keys()].map((pair) => `${operator} ${pair}`)
        assert.deepStrictEqual([...admitted].toSorted(), authorized.toSorted())
        for (const agent of agents.map((a) => keyOf(a))) {
          const peers =
            operator === null
              ? []
              : [...edges.keys()]
                  .filter((pair) => pair.split(" ").includes(agent))
                  .map((pair) => `${operator} ${pair.split(" ").find((end) => end !== agent)}`)
          assert.deepStrictEqual(
            peersOf(topology.operatorPubkey, topology.edges, agent)
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
