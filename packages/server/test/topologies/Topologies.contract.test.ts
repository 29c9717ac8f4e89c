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
import { hold, row, type Row } from "@catenet/testing/server/Contract"
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

const rows = ([own, other]: readonly [TopologyIds, TopologyIds]): ReadonlyArray<Row> => {
  const { id } = own
  const at = { id }
  const agentAt = (agent: string) => ({ id, agent })
  const binding = { operator_pubkey, proof: proofFor(id) }
  const noAccess = (row: Omit<Row, "status" | "at">, code: string, status = 404): ReadonlyArray<Row> =>
    hidden(id).map((each): Row => Object.assign({ as: carol, at: { id: each }, status, code }, row))

  return [
    // The whole.
    row("create", 200, { as: carol }),
    row("create", "400 MalformedRequest", { as: carol, headers: { "idempotency-key": "k".repeat(256) } }),
    row("list", 200, { as: ada, answer: [own, other] }),
    row("list", 200, { as: ada, query: "?limit=1", answer: [own] }),
    row("listShared", 200, { as: ada, answer: [], because: "a bearer caller has no verified address" }),
    row("listShared", 200, { as: bob, answer: [] }),
    row("get", 200, {
      as: ada,
      at,
      answer: { ...own, owner: "ada", agents: [], edges: [], overlay_mode: "baseline", labels: [] }
    }),
    ...noAccess({ call: "get" }, "TopologyNotFound"),
    row("get", "404 TopologyNotFound", { as: bob, at, because: "not shared yet" }),

    // Sharing.
    row("share", 200, { as: ada, at, body: { email: " BOB@b.example" } }),
    row("share", 200, { as: ada, at, body: { email: "bob@b.example" }, because: "sharing is idempotent" }),
    row("share", "400 MalformedRequest", { as: ada, at, body: { email: "anonymous" } }),
    ...noAccess({ call: "share", body: { email: "c@c.example" } }, "TopologyNotFound"),
    row("share", "404 TopologyNotFound", { as: bob, at, body: { email: "c@c.example" } }),
    row("listShares", 200, { as: ada, at, answer: { emails: ["bob@b.example"] } }),
    row("listShares", "404 TopologyNotFound", { as: bob, at }),
    row("listShared", 200, { as: bob, answer: [own] }),
    row("get", 200, { as: bob, at }),
    row("get", "404 TopologyNotFound", { as: { bearer: "bob" }, at }),

    // Agents.
    row("assignAgent", 200, { as: ada, at, body: { agent: x.toUpperCase() } }),
    row("assignAgent", "409 AgentAssigned", { as: ada, at, body: { agent: x } }),
    row("assignAgent", 200, { as: ada, at, headers: repeated, body: { agent: w } }),
    row("assignAgent", 200, { as: ada, at, headers: repeated, body: { agent: w }, because: "it is the same" }),
    row("assignAgent", "409 IdempotencyKeyReused", { as: ada, at, headers: repeated, body: { agent: x } }),
    row("unassignAgent", 200, { as: ada, at: { ...at, agent: w } }),
    row("assignAgent", "409 AgentAssigned", { as: ada, at: { id: other.id }, body: { agent: x } }),
    row("assignAgent", "403 NotAgentOwner", { as: bob, at, body: { agent: x } }),
    row("assignAgent", "403 PlacementProofInvalid", { as: bob, at, body: { agent: x, proof: "00".repeat(64) } }),
    row("assignAgent", "400 MalformedRequest", { as: bob, at, body: { agent: y, proof: "00" } }),
    row("assignAgent", 200, { as: bob, at, body: { agent: y, kind: "super-peer" } }),
    row("assignAgent", "403 NotAgentOwner", { as: ada, at, body: { agent: y } }),
    row("assignAgent", "400 MalformedRequest", { as: ada, at, body: { agent: z, kind: "king" } }),
    row("assignAgent", "400 MalformedRequest", { as: ada, at, body: { agent: "z" } }),
    ...noAccess({ call: "assignAgent", body: { agent: x } }, "TopologyNotFound"),
    row("labelAgent", 200, { as: ada, at: agentAt(x), body: { label: "kitchen" } }),
    row("labelAgent", 200, { as: bob, at: agentAt(y), body: { label: "camera" } }),
    row("labelAgent", "404 AgentNotAssigned", { as: bob, at: agentAt(x), body: { label: "mine" } }),
    row("labelAgent", "404 TopologyNotFound", { as: carol, at: agentAt(x), body: { label: "x" } }),
    row("labelAgent", "400 MalformedRequest", { as: ada, at: agentAt(x), body: { label: "" } }),

    // Edges.
    row("addEdge", 200, { as: ada, at, body: { a: y, b: x } }),
    row("addEdge", "409 EdgeRefused", { as: bob, at, body: { a: x, b: y.toUpperCase() } }),
    row("addEdge", 200, { as: ada, at, headers: repeated, body: { a: w, b: x } }),
    row("addEdge", 200, { as: ada, at, headers: repeated, body: { a: w, b: x }, because: "it is the same" }),
    row("addEdge", "409 IdempotencyKeyReused", { as: ada, at, headers: repeated, body: { a: w, b: y } }),
    row("removeEdge", 200, { as: ada, at, body: { a: w, b: x } }),
    row("addEdge", "409 EdgeRefused", { as: ada, at, body: { a: x, b: x } }),
    ...noAccess({ call: "addEdge", body: { a: x, b: z } }, "EdgeRefused", 409),
    row("addEdge", 200, { as: bob, at, body: { a: y, b: z }, because: "an end need not be an agent" }),
    row("removeEdge", "404 EdgeNotFound", { as: ada, at, body: { a: x, b: z } }),
    ...noAccess({ call: "removeEdge", body: { a: x, b: y } }, "EdgeNotFound"),
    row("noteChannel", 200, { as: ada, at, body: { a: x, b: y, channel: key("d") } }),
    row("noteChannel", "403 ChannelUnrelated", { as: ada, at, body: { a: x, b: y, channel: key("e") } }),
    row("noteChannel", "404 EdgeNotFound", { as: ada, at, body: { a: x, b: z, channel: key("e") } }),
    row("noteChannel", "400 MalformedRequest", { as: ada, at, body: { a: x, b: y, channel: "d" } }),
    ...noAccess({ call: "noteChannel", body: { a: x, b: y } }, "EdgeNotFound"),
    row("get", 200, {
      as: bob,
      at,
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
    }),
    row("noteChannel", 200, { as: bob, at, body: { a: x, b: y, channel: null } }),
    row("noteChannel", 200, { as: bob, at, body: { a: x, b: y, channel: key("f") }, because: "allow-listed" }),

    // Mode and suggestions.
    row("suggest", "409 NothingToSuggest", { as: ada, at, body: { shortcut_budget: 17 } }),
    row("setMode", 200, { as: ada, at, body: { mode: " Smart_Route" } }),
    row("setMode", "400 MalformedRequest", { as: ada, at, body: { mode: "mesh" } }),
    row("setMode", "400 MalformedRequest", { as: carol, at, body: { mode: "mesh" } }),
    row("setMode", "404 TopologyNotFound", { as: bob, at, body: { mode: "baseline" } }),
    ...noAccess({ call: "setMode", body: { mode: "baseline" } }, "TopologyNotFound"),
    row("suggest", "400 ShortcutBudgetTooLarge", { as: ada, at, body: { shortcut_budget: 17 } }),
    row("suggest", 200, {
      as: ada,
      at,
      body: `{"links":[{"a":"${y}","b":"${x}","cost":18446744073709551615},{"a":"${x}","b":"${z}","cost":1}]}`,
      because: "costs reach 2^64-1, and links of no agent do not count"
    }),
    row("suggest", 200, {
      as: ada,
      at,
      body: {},
      answer: { mode: "smart-route", links: [], total_cost: 0, connected: false }
    }),
    row("suggest", "404 TopologyNotFound", { as: bob, at, body: {} }),
    row("suggest", "400 TooManyAgents", { as: ada, at: { id: other.id }, body: {} }),

    // The operator.
    row("getOperator", "404 TopologyNotFound", { as: ada, at }),
    row("bindOperator", "404 TopologyNotFound", { as: ada, at, body: { ...binding, proof: proofFor(other.id) } }),
    row("bindOperator", "400 MalformedRequest", { as: ada, at, body: { ...binding, proof: "00" } }),
    row("bindOperator", "404 TopologyNotFound", { as: bob, at, body: binding }),
    ...noAccess({ call: "bindOperator", body: binding }, "TopologyNotFound"),
    row("bindOperator", 200, { as: ada, at, body: binding }),
    row("getOperator", 200, { as: ada, at, answer: binding }),
    row("getOperator", "404 TopologyNotFound", { as: bob, at }),

    // A key for the channel of a link.
    row("assignAgent", 200, { as: ada, at, body: { agent: keyed } }),
    row("addEdge", 200, { as: ada, at, body: { a: keyed, b: x } }),
    row("putNoiseKey", 200, { as: ada, at: agentAt(keyed), body: attested(channel) }),
    row("putNoiseKey", "400 AttestationRefused", {
      as: ada,
      at: agentAt(keyed),
      body: { ...attested(channel), channel: key("0") }
    }),
    row("putNoiseKey", "404 EdgeNotFound", { as: ada, at: agentAt(keyed), body: attested(key("0")) }),
    row("putNoiseKey", "403 NotAgentOwner", { as: bob, at: agentAt(keyed), body: attested(channel) }),
    row("putNoiseKey", "404 AgentNotAssigned", { as: ada, at: agentAt(z), body: attested(channel) }),
    row("putNoiseKey", "404 TopologyNotFound", { as: carol, at: agentAt(x), body: attested(channel) }),
    row("putNoiseKey", "422 WrongShape", { as: ada, at: agentAt(keyed), body: { channel } }),
    row("unassignAgent", 200, { as: ada, at: agentAt(keyed) }),
    row("unbindOperator", "404 TopologyNotFound", { as: bob, at }),
    row("unbindOperator", 200, { as: ada, at }),
    row("unbindOperator", 200, { as: ada, at, because: "there is none, as was asked for" }),

    // And away again.
    row("unshare", "404 ShareNotFound", { as: ada, at: { id, email: "c@c.example" } }),
    row("unshare", "400 MalformedRequest", { as: ada, at: { id, email: "anonymous" } }),
    row("unshare", "404 ShareNotFound", { as: carol, at: { id, email: "bob@b.example" } }),
    row("unshare", 200, { as: ada, at: { id, email: "Bob%40b.example" } }),
    row("get", "404 TopologyNotFound", { as: bob, at }),
    row("addEdge", "409 EdgeRefused", { as: bob, at, body: { a: x, b: z } }),
    row("unassignAgent", "404 TopologyNotFound", { as: bob, at: agentAt(x) }),
    row("unassignAgent", 200, { as: bob, at: agentAt(y), because: "it is his own, shared or not" }),
    row("unassignAgent", "404 AgentNotAssigned", { as: ada, at: agentAt(y) }),
    row("unassignAgent", "400 MalformedRequest", { as: ada, at: agentAt("y") }),
    row("get", 200, {
      as: ada,
      at,
      answer: {
        ...own,
        owner: "ada",
        overlay_mode: "smart-route",
        agents: [[x, "peer"]],
        edges: [],
        labels: [{ agent: x, label: "kitchen" }]
      }
    }),
    row("assignAgent", "403 NotAgentOwner", { as: ada, at, body: { agent: y }, because: "it went home" }),
    row("addEdge", 200, { as: ada, at, body: { a: x, b: z } }),
    row("removeEdge", 200, { as: ada, at, body: { a: z, b: x } }),
    row("remove", "404 TopologyNotFound", { as: bob, at }),
    row("remove", 200, { as: ada, at }),
    row("remove", "404 TopologyNotFound", { as: ada, at }),
    row("assignAgent", 200, { as: ada, at: { id: other.id }, body: { agent: x }, because: "it was set free" }),
    row("list", 200, { as: ada, answer: [other] })
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
      yield* hold("topologies", ada, rows([own, other]), {
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
      yield* hold("networks", ada, [
        row("get", 200, { at: { net_uuid }, answer }),
        row("get", "404 NetworkUnknown", { at: { net_uuid: id }, because: "the id of owners is another" }),
        row("get", "404 NetworkUnknown", { at: { net_uuid: "no-id" } })
      ])
    }).pipe(Effect.provide(database))
  )
})
