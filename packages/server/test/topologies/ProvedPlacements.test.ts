/** An agent's own signature decides which account owns it: against accounts that placed it without one, never against another proof. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey, Signature } from "@catenet/domain/values/Keys"
import { database, server, sessionOf } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as FactsServer from "../tunnels/records/FactsServer.ts"

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

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("a placement with the agent's proof", (it) => {
  it.effect("takes the agent from an account that placed it without, and ends its edges there", () =>
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
