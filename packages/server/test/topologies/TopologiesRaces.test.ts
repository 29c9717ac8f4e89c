/**
 * Agents and edges that two accounts, or two replicas, place at the same time.
 * One file, since all cases run on one server and one database.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import { TopologyEdge } from "@catenet/domain/topologies/Topology"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey, Signature } from "@catenet/domain/values/Keys"
import { bearerOf, database, ready, server, sessionOf } from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import * as FactsServer from "../tunnels/records/FactsServer.ts"

/** An agent's own signature decides which account owns it: against accounts that placed it without one, never against another proof. */
const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const keyOf = (byte: number) =>
  Schema.decodeSync(HolderKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(byte)))))
const proofFor = (byte: number, topologyId: string, subject: string) =>
  Schema.decodeSync(Signature)(Hex.encode(PlacementProof.sign(native, seedOf(byte), { topologyId, subject })))
const proved = (byte: number, id: TopologyId, subject: string) => ({
  headers: {},
  params: { id },
  payload: { agent: keyOf(byte), proof: proofFor(byte, id, subject) }
})
const plain = (byte: number, id: TopologyId) => ({ headers: {}, params: { id }, payload: { agent: keyOf(byte) } })
const fresh = (subject: string) =>
  Effect.gen(function* () {
    const { topologies } = yield* FactsServer.account(subject)
    return { topologies, id: (yield* topologies.create({ headers: {} })).id }
  })
const refusal = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(call), ({ _tag }) => _tag)

const fromHex = Schema.decodeSync(HolderKey)
const holder = (digit: string) => fromHex(digit.repeat(64))

/** A client of each of two replicas on one database. */
const clients = (sub: string) =>
  Effect.gen(function* () {
    const bearer = yield* bearerOf(sub)
    const { issuer } = yield* TestIssuer
    const context = yield* Layer.build(TestServer.replica({ CT_OIDC_ISSUER: issuer }))
    const first = yield* TestServer.clientAs({ bearer })
    const second = yield* Effect.provideService(
      TestServer.clientAs({ bearer }),
      HttpServer.HttpServer,
      Context.get(context, HttpServer.HttpServer)
    )
    yield* Effect.provideService(ready, HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
    return [first.topologies, second.topologies] as const
  })

/** Runs all at once; how often each outcome was seen. */
const tally = <A, E extends { readonly _tag: string }, R>(commands: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.map(
    Effect.all(
      commands.map((command) => Effect.match(command, { onSuccess: () => "won", onFailure: ({ _tag }) => _tag })),
      { concurrency: "unbounded" }
    ),
    (outcomes) =>
      Object.fromEntries([...Map.groupBy(outcomes, (outcome) => outcome)].map(([tag, all]) => [tag, all.length]))
  )

const times = 40

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })((it) => {
  describe("a placement with the agent's proof", () => {
    it.effect("takes the agent over from an account that placed it without one, and removes its edges there", () =>
      Effect.gen(function* () {
        const [eve, ada] = yield* Effect.all([fresh("eve"), fresh("ada")])
        yield* eve.topologies.assignAgent(plain(1, eve.id))
        yield* eve.topologies.addEdge({ headers: {}, params: { id: eve.id }, payload: { a: keyOf(1), b: keyOf(2) } })
        yield* eve.topologies.labelAgent({ params: { id: eve.id, agent: keyOf(1) }, payload: { label: "mine" } })
        assert.strictEqual(yield* refusal(ada.topologies.assignAgent(plain(1, ada.id))), "NotAgentOwner")
        yield* ada.topologies.assignAgent(proved(1, ada.id, "ada"))

        const left = yield* eve.topologies.get({ params: { id: eve.id } })
        assert.deepStrictEqual([left.agents, left.edges], [[], []])
        const view = yield* ada.topologies.get({ params: { id: ada.id } })
        assert.deepStrictEqual([view.agents, view.labels], [[[keyOf(1), "peer"]], []])
        assert.strictEqual(yield* refusal(eve.topologies.assignAgent(plain(1, eve.id))), "NotAgentOwner")
        yield* ada.topologies.unassignAgent({ params: { id: ada.id, agent: keyOf(1) } })
        assert.strictEqual(yield* refusal(eve.topologies.assignAgent(plain(1, eve.id))), "NotAgentOwner")
        const sql = yield* SqlClient.SqlClient
        const logged = yield* sql`select actor, target from audit_log where action = 'topology_agent_displaced'`
        assert.deepStrictEqual(logged, [{ actor: "ada", target: eve.id }])
      }).pipe(Effect.provide(database))
    )

    it.effect("takes an agent that its owner has in no topology, and keeps its own", () =>
      Effect.gen(function* () {
        const [eve, bob, ada] = yield* Effect.all([fresh("eva"), fresh("ben"), fresh("ann")])
        yield* eve.topologies.assignAgent(plain(3, eve.id))
        yield* eve.topologies.unassignAgent({ params: { id: eve.id, agent: keyOf(3) } })
        yield* ada.topologies.assignAgent(proved(3, ada.id, "ann"))
        const another = bob.topologies.assignAgent(proved(3, bob.id, "ben"))
        assert.strictEqual(yield* refusal(another), "NotAgentOwner", "proof against proof")
        const again = ada.topologies.assignAgent(proved(3, ada.id, "ann"))
        assert.strictEqual(yield* refusal(again), "AgentAssigned")
      })
    )

    it.effect("is refused where it was made for another topology, account or agent, and changes nothing", () =>
      Effect.gen(function* () {
        const [eve, ada] = yield* Effect.all([fresh("eli"), fresh("amy")])
        yield* eve.topologies.assignAgent(plain(4, eve.id))
        const wrong = [proofFor(4, eve.id, "amy"), proofFor(4, ada.id, "eli"), proofFor(5, ada.id, "amy")]
        for (const proof of wrong) {
          const call = ada.topologies.assignAgent({
            headers: {},
            params: { id: ada.id },
            payload: { agent: keyOf(4), proof }
          })
          assert.strictEqual(yield* refusal(call), "PlacementProofInvalid")
        }
        assert.deepStrictEqual((yield* eve.topologies.get({ params: { id: eve.id } })).agents, [[keyOf(4), "peer"]])
        const hidden = ada.topologies.assignAgent(proved(4, eve.id, "amy"))
        assert.strictEqual(yield* refusal(hidden), "TopologyNotFound", "a proof opens no topology of another")
      })
    )

    it.effect("proves later what its own account has placed, and leaves name, kind and edges", () =>
      Effect.gen(function* () {
        const [ada, eve] = yield* Effect.all([fresh("alf"), fresh("edi")])
        const params = { id: ada.id }
        const payload = { agent: keyOf(6), kind: "super-peer" as const }
        yield* ada.topologies.assignAgent({ headers: {}, params, payload })
        yield* ada.topologies.labelAgent({ params: { id: ada.id, agent: keyOf(6) }, payload: { label: "hall" } })
        yield* ada.topologies.addEdge({ headers: {}, params, payload: { a: keyOf(6), b: keyOf(7) } })
        const before = yield* ada.topologies.get({ params })
        yield* ada.topologies.assignAgent(proved(6, ada.id, "alf"))
        assert.deepStrictEqual(yield* ada.topologies.get({ params }), before)
        const taken = eve.topologies.assignAgent(proved(6, eve.id, "edi"))
        assert.strictEqual(yield* refusal(taken), "NotAgentOwner")
      })
    )

    it.effect("displaces an agent of a full topology, and ends with its account", () =>
      Effect.gen(function* () {
        const ada = yield* fresh("ari")
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into topology_agents (agent, owner, topology_id, kind)
        select encode(sha256(n::text::bytea), 'hex'), 'ari', ${ada.id}, 'peer' from generate_series(1, 999) n`
        yield* sql`insert into topology_agents (agent, owner, topology_id, kind)
        values (${keyOf(8)}, 'guest', ${ada.id}, 'peer')`
        yield* ada.topologies.assignAgent(proved(8, ada.id, "ari"))
        assert.strictEqual(yield* refusal(ada.topologies.assignAgent(proved(9, ada.id, "ari"))), "LimitReached")

        const session = yield* sessionOf("ari", "ari@a.example")
        const { accounts } = yield* TestServer.clientAs({ session, origin: "https://localhost" })
        yield* accounts.remove({ payload: { confirm: "DELETE" } })
        assert.deepStrictEqual(yield* sql`select agent from topology_agents where owner = 'ari'`, [])
        const eve = yield* fresh("ede")
        yield* eve.topologies.assignAgent(plain(8, eve.id))
      }).pipe(Effect.provide(database))
    )
  })

  describe("over two replicas", () => {
    it.effect("an agent is in one topology, however many accounts place it at once", () =>
      Effect.gen(function* () {
        const ada = yield* clients("ada")
        const places = yield* Effect.replicateEffect(ada[0].create({ headers: {} }), times / 2)
        const payload = { agent: holder("a") }
        const wanted = places.flatMap(({ id }) =>
          ada.map((replica) => replica.assignAgent({ headers: {}, params: { id }, payload }))
        )
        const outcomes = yield* tally(wanted)
        assert.deepStrictEqual(outcomes, { won: 1, AgentAssigned: times - 1 })
        const views = yield* Effect.forEach(places, ({ id }) => ada[1].get({ params: { id } }))
        assert.strictEqual(views.flatMap(({ agents }) => agents).length, 1)
      }).pipe(Effect.scoped)
    )

    it.effect("a new agent that many accounts place gets one owner", () =>
      Effect.gen(function* () {
        const accounts = yield* Effect.all([clients("bob"), clients("carol")])
        const places = yield* Effect.forEach(accounts, ([first]) => first.create({ headers: {} }))
        const outcomes = yield* tally(
          Array.from({ length: times }, (_, n) => {
            const who = n % 2 === 0 ? 0 : 1
            const id = places[who]?.id
            assert(id !== undefined)
            return accounts[who][n % 4 < 2 ? 0 : 1].assignAgent({
              headers: {},
              params: { id },
              payload: { agent: holder("b") }
            })
          })
        )
        assert.deepStrictEqual(outcomes, { won: 1, AgentAssigned: times / 2 - 1, NotAgentOwner: times / 2 })
      }).pipe(Effect.scoped)
    )

    it.effect("an edge is added once, from either end, and removed once", () =>
      Effect.gen(function* () {
        const ada = yield* clients("dan")
        const params = { id: (yield* ada[0].create({ headers: {} })).id }
        const [a, b] = [holder("c"), holder("d")]
        const ends = (n: number) => ({ headers: {}, params, payload: n % 4 < 2 ? { a, b } : { a: b, b: a } })
        const by = (n: number) => ada[n % 2 === 0 ? 0 : 1]
        const all = Array.from({ length: times }, (_, n) => n)
        assert.deepStrictEqual(yield* tally(all.map((n) => by(n).addEdge(ends(n)))), {
          won: 1,
          EdgeRefused: times - 1
        })
        assert.deepStrictEqual((yield* ada[1].get({ params })).edges, [new TopologyEdge({ a, b })])
        assert.deepStrictEqual(yield* tally(all.map((n) => by(n).removeEdge(ends(n)))), {
          won: 1,
          EdgeNotFound: times - 1
        })
      }).pipe(Effect.scoped)
    )

    it.effect("a topology that is removed while agents are assigned to it leaves none of them in it", () =>
      Effect.gen(function* () {
        const ada = yield* clients("eve")
        const { id } = yield* ada[0].create({ headers: {} })
        const agents = Array.from({ length: 16 }, (_, n) => holder(n.toString(16)).replace(/^./, "f") as HolderKey)
        const coming = agents.map((agent, n) =>
          ada[n % 2 === 0 ? 0 : 1].assignAgent({ headers: {}, params: { id }, payload: { agent } })
        )
        const outcomes = yield* tally([...coming.slice(0, 8), ada[1].remove({ params: { id } }), ...coming.slice(8)])
        assert.strictEqual((outcomes["won"] ?? 0) + (outcomes["TopologyNotFound"] ?? 0), agents.length + 1)
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`select agent from topology_agents where topology_id = ${id}`, [])
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("placements with proofs that take agents from each other's topologies do not deadlock", () =>
      Effect.gen(function* () {
        const [gus, hal, ida] = yield* Effect.all([clients("gus"), clients("hal"), clients("ida")])
        const [his, hers, third] = yield* Effect.all([gus, hal, ida].map(([one]) => one.create({ headers: {} })))
        assert(his !== undefined && hers !== undefined && third !== undefined)
        const seeds = Array.from({ length: 24 }, (_, n) => Redacted.make(new Uint8Array(32).fill(n + 100)))
        const agents = seeds.map((seed) => fromHex(Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))))
        const everyThird = (n: number) => [his, hers, third][n % 3]!.id
        const placed = agents.map((agent, n) =>
          Effect.andThen(
            [gus, hal, ida][n % 3]![0].assignAgent({ headers: {}, params: { id: everyThird(n) }, payload: { agent } }),
            [gus, hal, ida][n % 3]![1].addEdge({
              headers: {},
              params: { id: everyThird(n) },
              payload: { a: agent, b: holder("5") }
            })
          )
        )
        yield* Effect.all(placed, { concurrency: 4 })

        const taking = agents.map((agent, n) => {
          const [subject, by, { id }] = n % 2 === 0 ? (["gus", gus, his] as const) : (["hal", hal, hers] as const)
          const proof = PlacementProof.sign(native, seeds[n]!, { topologyId: id, subject })
          const payload = { agent, proof: Schema.decodeSync(Signature)(Hex.encode(proof)) }
          return by[n % 4 < 2 ? 0 : 1].assignAgent({ headers: {}, params: { id }, payload })
        })
        const leaving = agents.map((agent, n) =>
          [gus, hal, ida][n % 3]![n % 2]!.unassignAgent({ params: { id: everyThird(n), agent } })
        )
        const ending = [ida[0].remove({ params: { id: third.id } })]
        const commands: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
          ...taking,
          ...ending,
          ...leaving
        ]
        const outcomes = yield* tally(commands)
        const known = ["won", "AgentAssigned", "AgentNotAssigned", "TopologyNotFound"]
        assert.deepStrictEqual(new Set(Object.keys(outcomes)).difference(new Set(known)), new Set())
        const sql = yield* SqlClient.SqlClient
        const owners = yield* sql<{ owner: string; n: number }>`select owner, count(*)::integer as n
        from topology_agents where agent = any(${agents}::text[]) group by owner order by owner`
        assert.deepStrictEqual(owners, [
          { owner: "gus", n: 12 },
          { owner: "hal", n: 12 }
        ])
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("one idempotency key creates one topology", () =>
      Effect.gen(function* () {
        const ada = yield* clients("fay")
        const headers = { "idempotency-key": "once" }
        const made = yield* Effect.all(
          Array.from({ length: 12 }, (_, n) => ada[n % 2 === 0 ? 0 : 1].create({ headers })),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(made.map(({ id }) => id)).size, 1)
        assert.strictEqual((yield* ada[0].list({ query: {} })).length, 1)
      }).pipe(Effect.scoped)
    )

    it.effect("makes a hundred topologies for one account, however many are asked for at once", () =>
      Effect.gen(function* () {
        const [here, there] = yield* clients("drawer")
        const create = (n: number) => (n % 2 === 0 ? here : there).create({ headers: {} })
        assert.deepStrictEqual(yield* tally(Array.from({ length: 104 }, (_, n) => create(n))), {
          won: 100,
          TopologyLimitReached: 4
        })
        const [first] = yield* here.list({ query: {} })
        yield* here.remove({ params: { id: first!.id } })
        assert.deepStrictEqual(yield* tally([create(0), create(1)]), { won: 1, TopologyLimitReached: 1 })
      }).pipe(Effect.scoped)
    )
  })
})
