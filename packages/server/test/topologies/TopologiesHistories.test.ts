/**
 * Random histories over HTTP, beside the machines with a whole topology in memory: the server, which reads only what a
 * command is about, must answer the same and end the same.
 */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Proof from "@catenet/crypto/OperatorBinding"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import { ChannelId } from "@catenet/domain/channels/Channel"
import * as Assignment from "@catenet/domain/topologies/AgentAssignment"
import { OperatorBinding, OverlayMode, TopologyEdge } from "@catenet/domain/topologies/Topology"
import * as Machine from "@catenet/domain/topologies/TopologyMachine"
import { Email } from "@catenet/domain/values/Email"
import { Subject, TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey, OperatorKey, Signature } from "@catenet/domain/values/Keys"
import type { Step } from "@catenet/domain/values/Step"
import { peersOf, withoutAgent } from "@catenet/testing/domain/topologies/DrawnTopology"
import { bearerOf, database, server, sessionOf } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"

const Actor = Schema.Literals(["ada", "ada", "ada", "bob", "bob", "bearer", "sam"])
const Digit = Schema.Literals(["1", "2", "3"])
const Note = Schema.NullOr(Schema.Literals(["d", "f"]))
const Evidence = Schema.Literals(["none", "none", "valid", "invalid"])
const Guest = Schema.Literals(["bob@b.example", "eve@e.example"])
const Event = Schema.Union([
  Schema.TaggedStruct("AddEdge", { actor: Actor, a: Digit, b: Digit }),
  Schema.TaggedStruct("AddEdge", { actor: Actor, a: Digit, b: Digit }),
  Schema.TaggedStruct("RemoveEdge", { actor: Actor, a: Digit, b: Digit }),
  Schema.TaggedStruct("NoteChannel", { actor: Actor, a: Digit, b: Digit, channel: Note }),
  Schema.TaggedStruct("SetMode", { actor: Actor, mode: OverlayMode }),
  Schema.TaggedStruct("Share", { actor: Actor, email: Guest }),
  Schema.TaggedStruct("Unshare", { actor: Actor, email: Guest }),
  Schema.TaggedStruct("Bind", { actor: Actor, key: Schema.Literals([1, 2]), proofValid: Schema.Boolean }),
  Schema.TaggedStruct("Unbind", { actor: Actor }),
  Schema.TaggedStruct("Assign", { actor: Actor, a: Digit, proof: Evidence }),
  Schema.TaggedStruct("Assign", { actor: Actor, a: Digit, proof: Evidence }),
  Schema.TaggedStruct("Assign", { actor: Actor, a: Digit, proof: Evidence }),
  Schema.TaggedStruct("Unassign", { actor: Actor, a: Digit }),
  Schema.TaggedStruct("Unassign", { actor: Actor, a: Digit })
])
type Event = typeof Event.Type
const History = Schema.Array(Event).check(Schema.isMinLength(25), Schema.isMaxLength(50))

const email = Schema.decodeSync(Email)
const person = (subject: string, address: string | null): Machine.Actor => ({
  subject: Subject.make(subject),
  email: address === null ? null : email(address)
})
const people = {
  ada: person("ada", null),
  bob: person("bob", "bob@b.example"),
  bearer: person("bob", null),
  sam: person("sam", null)
}

const channel = (digit: string) => Schema.decodeSync(ChannelId)(digit.repeat(64))
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))
const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const operatorOf = (byte: number) =>
  Schema.decodeSync(OperatorKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(byte)))))
/** The model has one topology. */
const anyTopology = Schema.decodeSync(TopologyId)("1".repeat(32))
/** Ada owns one of the two channels, and bob's session is allow-listed on the other. */
const mayNote = (actor: Event["actor"], digit: string) => (actor === "ada" ? "d" : actor === "bob" ? "f" : "") === digit

const clients = Effect.gen(function* () {
  const as = (credentials: TestServer.Credentials) =>
    Effect.map(TestServer.clientAs(credentials), ({ topologies }) => topologies)
  const session = yield* sessionOf("bob", "bob@b.example")
  return {
    ada: yield* as({ bearer: yield* bearerOf("ada") }),
    bob: yield* as({ session, origin: "https://localhost" }),
    bearer: yield* as({ bearer: yield* bearerOf("bob") }),
    sam: yield* as({ bearer: yield* bearerOf("sam") })
  }
})

type Answer<State> = Result.Result<Step<State, unknown>, { readonly _tag: string }>

/** The machines, with all of a topology and of its agents in memory. */
class Model {
  topology = Machine.created(Subject.make("ada"))
  readonly agents = new Map<string, Assignment.Assignment>()
  readonly #keyOf: (digit: string) => HolderKey
  constructor(keyOf: (digit: string) => HolderKey) {
    this.#keyOf = keyOf
  }

  apply(event: Event): string {
    if (event._tag === "Assign" || event._tag === "Unassign") {
      const agent = this.#keyOf(event.a)
      const state = this.agents.get(agent) ?? Assignment.unassigned
      const { subject } = people[event.actor]
      const role = Machine.roleOf(this.topology, people[event.actor])
      const actor = { subject, topologyId: anyTopology, role }
      const step: Answer<Assignment.Assignment> =
        event._tag === "Assign"
          ? Assignment.assign(state, { ...actor, kind: "peer", proof: event.proof })
          : Assignment.release(state, actor)
      if (Result.isFailure(step)) return step.failure._tag
      this.agents.set(agent, step.success.next)
      if (step.success.effects.length > 0) this.topology = withoutAgent(this.topology, agent).next
      return "done"
    }
    const step = this.#answer(event)
    if (Result.isFailure(step)) return step.failure._tag
    this.topology = step.success.next
    return "done"
  }

  #answer(event: Exclude<Event, { readonly _tag: "Assign" | "Unassign" }>): Answer<Machine.TopologyState> {
    const actor = people[event.actor]
    const ends = "b" in event ? { a: this.#keyOf(event.a), b: this.#keyOf(event.b) } : undefined
    switch (event._tag) {
      case "AddEdge":
        return Machine.addEdge(this.topology, actor, ends!)
      case "RemoveEdge":
        return Machine.removeEdge(this.topology, actor, ends!)
      case "NoteChannel": {
        const note = event.channel
        const own = note === null || mayNote(event.actor, note)
        const noted = { ...ends!, channel: note === null ? null : channel(note), mayNote: own }
        return Machine.noteChannel(this.topology, actor, noted)
      }
      case "SetMode":
        return Machine.setMode(this.topology, actor, event.mode)
      case "Share":
        return Machine.share(this.topology, actor, email(event.email))
      case "Unshare":
        return Machine.unshare(this.topology, actor, email(event.email))
      case "Bind":
        return Machine.bind(this.topology, actor, operatorOf(event.key), event.proofValid)
      case "Unbind":
        return Machine.unbind(this.topology, actor)
    }
  }

  /** Every channel that the topology opens, with the holder to which it opens it. */
  admitted(): ReadonlyArray<string> {
    const { edges, operatorPubkey } = this.topology
    return ["1", "2", "3"].flatMap((digit) =>
      peersOf(operatorPubkey, edges, this.#keyOf(digit)).map(({ operator, peer }) => {
        const link = ChannelIds.link(native, bytes(operator), bytes(this.#keyOf(digit)), bytes(peer))
        return `${this.#keyOf(digit)} ${Hex.encode(link)}`
      })
    )
  }
}

/** Two channels beside the topologies. */
const channels = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into channels (channel, operator_pubkey, owner, created_at)
    values (${channel("d")}, ${channel("1")}, 'ada', 0), (${channel("f")}, ${channel("1")}, 'dan', 0)`
  yield* sql`insert into channel_allowlist (channel, email) values (${channel("f")}, 'bob@b.example')`
})

const scene = Layer.effectDiscard(Effect.provide(channels, database)).pipe(Layer.provideMerge(server()))

layer(scene, { excludeTestServices: true, timeout: "60 seconds" })("a topology", (it) => {
  it.effect.prop(
    "is on the server as in the machines, over random histories",
    [History],
    ([history]) =>
      Effect.gen(function* () {
        const by = yield* clients
        const { id } = yield* by.ada.create({ headers: {} })
        const params = { id }
        const agentSeed = (digit: string) => Redacted.make(bytes(id + digit.repeat(32)))
        const keys = new Map(
          ["1", "2", "3"].map((digit) => {
            const key = native.ed25519.publicKey(Redacted.value(agentSeed(digit)))
            return [digit, Schema.decodeSync(HolderKey)(Hex.encode(key))] as const
          })
        )
        const keyOf = (digit: string) => keys.get(digit)!
        const model = new Model(keyOf)
        const send = (event: Event): Effect.Effect<void, { readonly _tag: string }> => {
          const me = by[event.actor]
          const ends = "b" in event ? { a: keyOf(event.a), b: keyOf(event.b) } : undefined
          switch (event._tag) {
            case "AddEdge":
              return me.addEdge({ headers: {}, params, payload: ends! })
            case "RemoveEdge":
              return me.removeEdge({ params, payload: ends! })
            case "NoteChannel": {
              const note = event.channel === null ? null : channel(event.channel)
              return me.noteChannel({ params, payload: { ...ends!, channel: note } })
            }
            case "SetMode":
              return me.setMode({ params, payload: { mode: event.mode } })
            case "Share":
              return me.share({ params, payload: { email: email(event.email) } })
            case "Unshare":
              return me.unshare({ params: { id, email: email(event.email) } })
            case "Bind": {
              const proof = Hex.encode(
                Proof.sign(native, seedOf(event.key), { topologyId: event.proofValid ? id : "another" })
              )
              const operator_pubkey = operatorOf(event.key)
              return me.bindOperator({
                params,
                payload: Schema.decodeSync(OperatorBinding)({ operator_pubkey, proof })
              })
            }
            case "Unbind":
              return me.unbindOperator({ params })
            case "Assign": {
              const topologyId = event.proof === "valid" ? id : "another"
              const place = { topologyId, subject: people[event.actor].subject }
              const proof = Hex.encode(PlacementProof.sign(native, agentSeed(event.a), place))
              const signed = event.proof === "none" ? {} : { proof: Schema.decodeSync(Signature)(proof) }
              return me.assignAgent({ headers: {}, params, payload: { agent: keyOf(event.a), ...signed } })
            }
            case "Unassign":
              return me.unassignAgent({ params: { id, agent: keyOf(event.a) } })
          }
        }
        for (const event of history) {
          const answered = yield* Effect.match(send(event), { onSuccess: () => "done", onFailure: ({ _tag }) => _tag })
          assert.strictEqual(answered, model.apply(event), JSON.stringify(event))
        }

        const { topology } = model
        const view = yield* by.ada.get({ params })
        assert.strictEqual(view.overlay_mode, topology.overlayMode)
        assert.deepStrictEqual(
          view.edges,
          topology.edges.map(({ a, b, channel: note }) =>
            Schema.decodeSync(TopologyEdge)(note === null ? { a, b } : { a, b, channel: note })
          )
        )
        const placed = [...model.agents].filter(([, { topologyId }]) => topologyId !== null).map(([agent]) => agent)
        assert.deepStrictEqual(
          view.agents.map(([agent]) => agent as string),
          placed.toSorted()
        )
        const shares = yield* by.ada.listShares({ params, query: {} })
        assert.deepStrictEqual(shares.emails as ReadonlyArray<string>, [...topology.shares].toSorted())
        const sql = yield* SqlClient.SqlClient
        const links = yield* sql<{ a: string; b: string; link: string }>`
          select a, b, link from topology_edges where topology_id = ${id} and link is not null`
        const open = links.flatMap(({ a, b, link }) => [`${a} ${link}`, `${b} ${link}`])
        assert.deepStrictEqual(open.toSorted(), model.admitted().toSorted())
      }).pipe(Effect.provide(database)),
    { arbitrary: { runs: 15 }, timeout: 600_000 }
  )
})
