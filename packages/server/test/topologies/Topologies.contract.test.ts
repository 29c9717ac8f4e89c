/**
 * The routes of topologies.
 * One file, since it is one table, with a row for each answer of the routes.
 */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import * as Proof from "@catenet/crypto/OperatorBinding"
import type { TopologyIds } from "@catenet/domain/topologies/Topology"
import { bearerOf, database, server } from "@catenet/testing/server/Accounts"
import * as Contract from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"

const ada = { bearer: "ada" }
const carol = { bearer: "carol" }
const bob = { session: "bob", email: "Bob@b.example" }
const key = (digit: string) => digit.repeat(64)
const [x, y, z] = [key("a"), key("b"), key("c")]
const seed = Redacted.make(new Uint8Array(32).fill(3))
const operator_pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))
const proofFor = (id: string) => Hex.encode(Proof.sign(native, seed, { topologyId: id }))

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))

/** An agent whose key can sign, the channel of its link with `x`, and what it attests for a channel. */
const agentSeed = Redacted.make(new Uint8Array(32).fill(4))
const keyed = Hex.encode(native.ed25519.publicKey(Redacted.value(agentSeed)))
const channel = Hex.encode(ChannelIds.link(native, bytes(operator_pubkey), bytes(keyed), bytes(x)))
const noiseKey = native.x25519.publicKey(new Uint8Array(32).fill(5))
const attested = (of: string) => ({
  channel: of,
  noise_pubkey: Hex.encode(noiseKey),
  noise_attestation: Hex.encode(NoiseAttestation.sign(native, agentSeed, { channel: bytes(of), noiseKey }))
})

/** A topology that is created and removed. */
const w = key("9")
const repeated = { "idempotency-key": "once" }

/** Three that have one answer for a stranger: a topology of another account, an unknown id, and a text that is no id. */
const hidden = (foreign: string) => [foreign, "0f".repeat(16), "no-id"]

const created = Effect.gen(function* () {
  const bearer = yield* bearerOf("ada")
  const { topologies } = yield* TestServer.clientAs({ bearer })
  return yield* Effect.all([topologies.create({ headers: {} }), topologies.create({ headers: {} })])
})

const rows = ([own, other]: readonly [TopologyIds, TopologyIds]): ReadonlyArray<Contract.Row> => {
  const { id } = own
  const at = { id }
  const agentAt = (agent: string) => ({ id, agent })
  const binding = { operator_pubkey, proof: proofFor(id) }
  const noAccess = (
    row: Omit<Contract.Row, "status" | "at">,
    code: string,
    status = 404
  ): ReadonlyArray<Contract.Row> =>
    hidden(id).map((each): Contract.Row => Object.assign({ as: carol, at: { id: each }, status, code }, row))

  return [
    // The whole.
    { call: "create", as: carol, status: 200 },
    {
      call: "create",
      as: carol,
      headers: { "idempotency-key": "k".repeat(256) },
      status: 400,
      code: "MalformedRequest"
    },
    { call: "list", as: ada, status: 200, answer: [own, other] },
    { call: "list", as: ada, query: "?limit=1", status: 200, answer: [own] },
    { call: "listShared", as: ada, status: 200, answer: [], because: "a bearer caller has no verified address" },
    { call: "listShared", as: bob, status: 200, answer: [] },
    {
      call: "get",
      as: ada,
      at,
      status: 200,
      answer: { ...own, owner: "ada", agents: [], edges: [], overlay_mode: "baseline", labels: [] }
    },
    ...noAccess({ call: "get" }, "TopologyNotFound"),
    { call: "get", as: bob, at, status: 404, code: "TopologyNotFound", because: "not shared yet" },

    // Sharing.
    { call: "share", as: ada, at, body: { email: " BOB@b.example" }, status: 200 },
    { call: "share", as: ada, at, body: { email: "bob@b.example" }, status: 200, because: "sharing is idempotent" },
    { call: "share", as: ada, at, body: { email: "anonymous" }, status: 400, code: "MalformedRequest" },
    ...noAccess({ call: "share", body: { email: "c@c.example" } }, "TopologyNotFound"),
    { call: "share", as: bob, at, body: { email: "c@c.example" }, status: 404, code: "TopologyNotFound" },
    { call: "listShares", as: ada, at, status: 200, answer: { emails: ["bob@b.example"] } },
    { call: "listShares", as: bob, at, status: 404, code: "TopologyNotFound" },
    { call: "listShared", as: bob, status: 200, answer: [own] },
    { call: "get", as: bob, at, status: 200 },
    { call: "get", as: { bearer: "bob" }, at, status: 404, code: "TopologyNotFound" },

    // Agents.
    { call: "assignAgent", as: ada, at, body: { agent: x.toUpperCase() }, status: 200 },
    { call: "assignAgent", as: ada, at, body: { agent: x }, status: 409, code: "AgentAssigned" },
    { call: "assignAgent", as: ada, at, headers: repeated, body: { agent: w }, status: 200 },
    { call: "assignAgent", as: ada, at, headers: repeated, body: { agent: w }, status: 200, because: "it is the same" },
    {
      call: "assignAgent",
      as: ada,
      at,
      headers: repeated,
      body: { agent: x },
      status: 409,
      code: "IdempotencyKeyReused"
    },
    { call: "unassignAgent", as: ada, at: { ...at, agent: w }, status: 200 },
    { call: "assignAgent", as: ada, at: { id: other.id }, body: { agent: x }, status: 409, code: "AgentAssigned" },
    { call: "assignAgent", as: bob, at, body: { agent: x }, status: 403, code: "NotAgentOwner" },
    {
      call: "assignAgent",
      as: bob,
      at,
      body: { agent: x, proof: "00".repeat(64) },
      status: 403,
      code: "PlacementProofInvalid"
    },
    { call: "assignAgent", as: bob, at, body: { agent: y, proof: "00" }, status: 400, code: "MalformedRequest" },
    { call: "assignAgent", as: bob, at, body: { agent: y, kind: "super-peer" }, status: 200 },
    { call: "assignAgent", as: ada, at, body: { agent: y }, status: 403, code: "NotAgentOwner" },
    { call: "assignAgent", as: ada, at, body: { agent: z, kind: "king" }, status: 400, code: "MalformedRequest" },
    { call: "assignAgent", as: ada, at, body: { agent: "z" }, status: 400, code: "MalformedRequest" },
    ...noAccess({ call: "assignAgent", body: { agent: x } }, "TopologyNotFound"),
    { call: "labelAgent", as: ada, at: agentAt(x), body: { label: "kitchen" }, status: 200 },
    { call: "labelAgent", as: bob, at: agentAt(y), body: { label: "camera" }, status: 200 },
    { call: "labelAgent", as: bob, at: agentAt(x), body: { label: "mine" }, status: 404, code: "AgentNotAssigned" },
    { call: "labelAgent", as: carol, at: agentAt(x), body: { label: "x" }, status: 404, code: "TopologyNotFound" },
    { call: "labelAgent", as: ada, at: agentAt(x), body: { label: "" }, status: 400, code: "MalformedRequest" },

    // Edges.
    { call: "addEdge", as: ada, at, body: { a: y, b: x }, status: 200 },
    { call: "addEdge", as: bob, at, body: { a: x, b: y.toUpperCase() }, status: 409, code: "EdgeRefused" },
    { call: "addEdge", as: ada, at, headers: repeated, body: { a: w, b: x }, status: 200 },
    { call: "addEdge", as: ada, at, headers: repeated, body: { a: w, b: x }, status: 200, because: "it is the same" },
    {
      call: "addEdge",
      as: ada,
      at,
      headers: repeated,
      body: { a: w, b: y },
      status: 409,
      code: "IdempotencyKeyReused"
    },
    { call: "removeEdge", as: ada, at, body: { a: w, b: x }, status: 200 },
    { call: "addEdge", as: ada, at, body: { a: x, b: x }, status: 409, code: "EdgeRefused" },
    ...noAccess({ call: "addEdge", body: { a: x, b: z } }, "EdgeRefused", 409),
    { call: "addEdge", as: bob, at, body: { a: y, b: z }, status: 200, because: "an end need not be an agent" },
    { call: "removeEdge", as: ada, at, body: { a: x, b: z }, status: 404, code: "EdgeNotFound" },
    ...noAccess({ call: "removeEdge", body: { a: x, b: y } }, "EdgeNotFound"),
    { call: "noteChannel", as: ada, at, body: { a: x, b: y, channel: key("d") }, status: 200 },
    {
      call: "noteChannel",
      as: ada,
      at,
      body: { a: x, b: y, channel: key("e") },
      status: 403,
      code: "ChannelUnrelated"
    },
    { call: "noteChannel", as: ada, at, body: { a: x, b: z, channel: key("e") }, status: 404, code: "EdgeNotFound" },
    { call: "noteChannel", as: ada, at, body: { a: x, b: y, channel: "d" }, status: 400, code: "MalformedRequest" },
    ...noAccess({ call: "noteChannel", body: { a: x, b: y } }, "EdgeNotFound"),
    {
      call: "get",
      as: bob,
      at,
      status: 200,
      answer: {
        ...own,
        owner: "ada",
        overlay_mode: "baseline",
        agents: [
          [x, "peer"],
          [y, "super-peer"]
        ],
        edges: [
          { a: x, b: y, channel: key("d") },
          { a: y, b: z }
        ],
        labels: [
          { agent: x, label: "kitchen" },
          { agent: y, label: "camera" }
        ]
      }
    },
    { call: "noteChannel", as: bob, at, body: { a: x, b: y, channel: null }, status: 200 },
    { call: "noteChannel", as: bob, at, body: { a: x, b: y, channel: key("f") }, status: 200, because: "allow-listed" },

    // Mode and suggestions.
    { call: "suggest", as: ada, at, body: { shortcut_budget: 17 }, status: 409, code: "NothingToSuggest" },
    { call: "setMode", as: ada, at, body: { mode: " Smart_Route" }, status: 200 },
    { call: "setMode", as: ada, at, body: { mode: "mesh" }, status: 400, code: "MalformedRequest" },
    { call: "setMode", as: carol, at, body: { mode: "mesh" }, status: 400, code: "MalformedRequest" },
    { call: "setMode", as: bob, at, body: { mode: "baseline" }, status: 404, code: "TopologyNotFound" },
    ...noAccess({ call: "setMode", body: { mode: "baseline" } }, "TopologyNotFound"),
    { call: "suggest", as: ada, at, body: { shortcut_budget: 17 }, status: 400, code: "ShortcutBudgetTooLarge" },
    {
      call: "suggest",
      as: ada,
      at,
      body: `{"links":[{"a":"${y}","b":"${x}","cost":18446744073709551615},{"a":"${x}","b":"${z}","cost":1}]}`,
      status: 200,
      because: "costs reach 2^64-1, and links of no agent do not count"
    },
    {
      call: "suggest",
      as: ada,
      at,
      body: {},
      status: 200,
      answer: { mode: "smart-route", links: [], total_cost: 0, connected: false }
    },
    { call: "suggest", as: bob, at, body: {}, status: 404, code: "TopologyNotFound" },
    { call: "suggest", as: ada, at: { id: other.id }, body: {}, status: 400, code: "TooManyAgents" },

    // The operator.
    { call: "getOperator", as: ada, at, status: 404, code: "TopologyNotFound" },
    {
      call: "bindOperator",
      as: ada,
      at,
      body: { ...binding, proof: proofFor(other.id) },
      status: 404,
      code: "TopologyNotFound"
    },
    { call: "bindOperator", as: ada, at, body: { ...binding, proof: "00" }, status: 400, code: "MalformedRequest" },
    { call: "bindOperator", as: bob, at, body: binding, status: 404, code: "TopologyNotFound" },
    ...noAccess({ call: "bindOperator", body: binding }, "TopologyNotFound"),
    { call: "bindOperator", as: ada, at, body: binding, status: 200 },
    { call: "getOperator", as: ada, at, status: 200, answer: binding },
    { call: "getOperator", as: bob, at, status: 404, code: "TopologyNotFound" },

    // A key for the channel of a link.
    { call: "assignAgent", as: ada, at, body: { agent: keyed }, status: 200 },
    { call: "addEdge", as: ada, at, body: { a: keyed, b: x }, status: 200 },
    { call: "putNoiseKey", as: ada, at: agentAt(keyed), body: attested(channel), status: 200 },
    {
      call: "putNoiseKey",
      as: ada,
      at: agentAt(keyed),
      body: { ...attested(channel), channel: key("0") },
      status: 400,
      code: "AttestationRefused"
    },
    {
      call: "putNoiseKey",
      as: ada,
      at: agentAt(keyed),
      body: attested(key("0")),
      status: 404,
      code: "EdgeNotFound"
    },
    { call: "putNoiseKey", as: bob, at: agentAt(keyed), body: attested(channel), status: 403, code: "NotAgentOwner" },
    { call: "putNoiseKey", as: ada, at: agentAt(z), body: attested(channel), status: 404, code: "AgentNotAssigned" },
    { call: "putNoiseKey", as: carol, at: agentAt(x), body: attested(channel), status: 404, code: "TopologyNotFound" },
    { call: "putNoiseKey", as: ada, at: agentAt(keyed), body: { channel }, status: 422, code: "WrongShape" },
    { call: "unassignAgent", as: ada, at: agentAt(keyed), status: 200 },
    { call: "unbindOperator", as: bob, at, status: 404, code: "TopologyNotFound" },
    { call: "unbindOperator", as: ada, at, status: 200 },
    { call: "unbindOperator", as: ada, at, status: 200, because: "there is none, as was asked for" },

    // And away again.
    { call: "unshare", as: ada, at: { id, email: "c@c.example" }, status: 404, code: "ShareNotFound" },
    { call: "unshare", as: ada, at: { id, email: "anonymous" }, status: 400, code: "MalformedRequest" },
    { call: "unshare", as: carol, at: { id, email: "bob@b.example" }, status: 404, code: "ShareNotFound" },
    { call: "unshare", as: ada, at: { id, email: "Bob%40b.example" }, status: 200 },
    { call: "get", as: bob, at, status: 404, code: "TopologyNotFound" },
    { call: "addEdge", as: bob, at, body: { a: x, b: z }, status: 409, code: "EdgeRefused" },
    { call: "unassignAgent", as: bob, at: agentAt(x), status: 404, code: "TopologyNotFound" },
    { call: "unassignAgent", as: bob, at: agentAt(y), status: 200, because: "it is his own, shared or not" },
    { call: "unassignAgent", as: ada, at: agentAt(y), status: 404, code: "AgentNotAssigned" },
    { call: "unassignAgent", as: ada, at: agentAt("y"), status: 400, code: "MalformedRequest" },
    {
      call: "get",
      as: ada,
      at,
      status: 200,
      answer: {
        ...own,
        owner: "ada",
        overlay_mode: "smart-route",
        agents: [[x, "peer"]],
        edges: [],
        labels: [{ agent: x, label: "kitchen" }]
      }
    },
    {
      call: "assignAgent",
      as: ada,
      at,
      body: { agent: y },
      status: 403,
      code: "NotAgentOwner",
      because: "it went home"
    },
    { call: "addEdge", as: ada, at, body: { a: x, b: z }, status: 200 },
    { call: "removeEdge", as: ada, at, body: { a: z, b: x }, status: 200 },
    { call: "remove", as: bob, at, status: 404, code: "TopologyNotFound" },
    { call: "remove", as: ada, at, status: 200 },
    { call: "remove", as: ada, at, status: 404, code: "TopologyNotFound" },
    { call: "assignAgent", as: ada, at: { id: other.id }, body: { agent: x }, status: 200, because: "it was set free" },
    { call: "list", as: ada, status: 200, answer: [other] }
  ]
}

/** Channels that ada owns and that bob is allow-listed on, and a crowd of 65 agents. */
const scene = (other: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`insert into channels (channel, operator_pubkey, owner, created_at)
      values (${key("d")}, ${key("1")}, 'ada', 0), (${key("f")}, ${key("1")}, 'dan', 0)`
    yield* sql`insert into channel_allowlist (channel, email) values (${key("f")}, 'bob@b.example')`
    yield* sql`update topologies set overlay_mode = 'shortcut', created_at = created_at + 1 where id = ${other}`
    yield* sql`insert into topology_agents (agent, owner, topology_id, kind)
      select encode(sha256(n::text::bytea), 'hex'), 'ada', ${other}, 'peer' from generate_series(1, 65) n`
  }).pipe(Effect.provide(database))

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("topologies", (it) => {
  it.effect("answer as declared", () =>
    Effect.gen(function* () {
      const [own, other] = yield* created
      yield* scene(other.id)
      yield* Contract.hold("topologies", ada, rows([own, other]), {
        "create TopologyLimitReached": "Limit.test.ts reaches it",
        "create IdempotencyKeyReused": "the route has no body in which a repeated request could differ"
      })
    })
  )

  it.effect("a foreign topology and an unknown one have the same answer", () =>
    Effect.gen(function* () {
      const [own] = yield* created
      const headers = { authorization: `Bearer ${yield* bearerOf("carol")}` }
      const answers = yield* Effect.forEach(hidden(own.id), (id) =>
        Effect.flatMap(TestServer.raw(`/me/topologies/${id}`, { headers }), (response) =>
          Effect.promise(() => response.text())
        )
      )
      assert.strictEqual(new Set(answers).size, 1)
    })
  )

  it.effect("the public page shows agents and edges, without notes", () =>
    Effect.gen(function* () {
      const [{ id, net_uuid }] = yield* created
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into topology_edges (topology_id, a, b, note) values (${id}, ${x}, ${y}, ${key("d")})`
      const answer = { net_uuid, agents: [], edges: [{ a: x, b: y }], overlay_mode: "baseline" }
      yield* Contract.hold("networks", ada, [
        { call: "get", at: { net_uuid }, status: 200, answer },
        {
          call: "get",
          at: { net_uuid: id },
          status: 404,
          code: "NetworkUnknown",
          because: "the id of owners is another"
        },
        { call: "get", at: { net_uuid: "no-id" }, status: 404, code: "NetworkUnknown" }
      ])
    }).pipe(Effect.provide(database))
  )
})
