import * as Bytes from "@catenet/crypto/Bytes"
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { cursorIn } from "@catenet/domain/api/Page"
import {
  AgentPresence,
  Authorisation,
  EdgeId,
  Heartbeat,
  PeerAddress,
  reportedTunnels
} from "@catenet/domain/edges/EdgeNode"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"

const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const beat = (id: string, address: string, key?: number) => {
  const facts = { id: EdgeId.make(id), peer_addr: PeerAddress.make(address) }
  if (key === undefined) return new Heartbeat(facts)
  const signature = EdgeHeartbeat.sign(native, seedOf(key), { id, peerAddress: address })
  return new Heartbeat({
    ...facts,
    pubkey: Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(key))))),
    signature: Schema.decodeSync(Signature)(Hex.encode(signature))
  })
}

const send = (payload: Heartbeat) => Effect.flatMap(TestServer.client, ({ edges }) => edges.heartbeat({ payload }))
const host = Schema.decodeSync(Hostname)
const hostOf = (name: string) => ({ query: { host: host(name) } })

/** What an edge restores, read in pages. */
const restoredIn = Effect.fn(function* (limit: number, edge: string) {
  const { edges } = yield* TestServer.client
  const all: Array<Authorisation> = []
  let cursor: string | undefined
  do {
    const [page, { headers }] = yield* edges.rehydrate({
      params: { edge_id: EdgeId.make(edge) },
      query: { limit, ...(cursor === undefined ? {} : { cursor }) },
      responseMode: "decoded-and-response"
    })
    assert.isAtMost(page.length, limit)
    all.push(...page)
    cursor = cursorIn(headers["link"])
  } while (cursor !== undefined)
  return all
})

const inDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(TestDatabase, ({ url }) => Effect.provide(use, PgClient.layer({ url })))

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("edge servers", (it) => {
  it.effect("pin the first key, and refuse any other and none", () =>
    Effect.gen(function* () {
      const { edges } = yield* TestServer.client
      yield* send(beat("pinned", "a:1"))
      yield* send(beat("pinned", "a:2", 1))
      yield* send(beat("pinned", "a:3", 1))
      for (const wrong of [
        beat("pinned", "b:1"),
        beat("pinned", "b:1", 2),
        new Heartbeat({ ...beat("pinned", "a:1", 1), peer_addr: PeerAddress.make("b:1") })
      ]) {
        assert.strictEqual((yield* Effect.flip(send(wrong)))._tag, "HeartbeatRefused")
      }
      const { signature: _, ...half } = beat("pinned", "a:1", 1)
      assert.strictEqual((yield* Effect.flip(send(new Heartbeat(half))))._tag, "HeartbeatProofIncomplete")
      yield* edges.rebind({ params: { id: EdgeId.make("pinned") } })
      yield* send(beat("pinned", "b:1", 2))
      const unknown = yield* Effect.flip(edges.rebind({ params: { id: EdgeId.make("anonymous") } }))
      assert.strictEqual(unknown._tag, "EdgeUnknown")
    })
  )

  it.effect("one of many that race for a name is pinned", () =>
    Effect.gen(function* () {
      const results = yield* Effect.all(
        Array.from({ length: 16 }, (_, n) => Effect.result(send(beat("raced", "a:1", n + 1)))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter((result) => result._tag === "Success").length, 1)
    })
  )

  it.effect("are listed in pages, with their keys, living or not", () =>
    Effect.gen(function* () {
      const { edges } = yield* TestServer.client
      yield* send(beat("list-a", "a:1", 1))
      yield* send(beat("list-b", "b:1"))
      yield* inDatabase(SqlClient.SqlClient.use((sql) => sql`update edge_nodes set seen_at = 7 where id = 'list-b'`))
      const all = yield* edges.list({ query: {} })
      const listed = all.flatMap(({ edge_id, live, peer_addr, pubkey, seen_at }) =>
        edge_id.startsWith("list-") ? [`${edge_id} ${peer_addr} ${pubkey !== null} ${live} ${seen_at > 7}`] : []
      )
      assert.deepStrictEqual(listed, ["list-a a:1 true true true", "list-b b:1 false false false"])
      const first = yield* edges.list({ query: { limit: 1 } })
      assert.deepStrictEqual(first, all.slice(0, 1))
    })
  )

  it.effect("are found by host name and token while they live", () =>
    Effect.gen(function* () {
      const { edges, provisioning } = yield* TestServer.client
      const { routing_token } = yield* provisioning.provisionTunnel({
        headers: {},
        payload: { subject: Subject.make("s"), name: "n", hostname: host("found.example.test") }
      })
      assert.strictEqual((yield* Effect.flip(edges.lookup(hostOf("found.example.test"))))._tag, "NoLiveEdge")
      yield* send(beat("primary", "edge.example:4433", 3))
      const found = yield* edges.lookup(hostOf("found.example.test"))
      assert.deepStrictEqual({ ...found } as object, { edge_id: "primary", peer_addr: "edge.example:4433" })
      assert.strictEqual((yield* edges.lookup({ query: { token: routing_token } })).edge_id, "primary")
      assert.strictEqual((yield* Effect.flip(edges.lookup({ query: {} })))._tag, "LookupAmbiguous")
      yield* inDatabase(SqlClient.SqlClient.use((sql) => sql`update edge_nodes set seen_at = seen_at - 121`))
      assert.strictEqual((yield* Effect.flip(edges.lookup(hostOf("found.example.test"))))._tag, "NoLiveEdge")
    })
  )

  it.effect("are found where agents are, two at most, the host's own first, and only as long as they report it", () =>
    Effect.gen(function* () {
      const { edges, provisioning } = yield* TestServer.client
      const { routing_token } = yield* provisioning.provisionTunnel({
        headers: {},
        payload: { subject: Subject.make("s"), name: "n", hostname: host("present.example.test") }
      })
      const ids = ["primary", "seen-b", "seen-c"]
      yield* send(beat("primary", "edge.example:4433", 3))
      for (const id of ids.slice(1)) yield* send(beat(id, `${id}:1`))
      const tell = (id: string, says: Partial<AgentPresence>) =>
        edges.presence({
          payload: new AgentPresence({ edge_id: EdgeId.make(id), whole: false, present: [], absent: [], ...says })
        })
      const found = Effect.map(edges.lookup(hostOf("present.example.test")), ({ edge_id, others = [] }) => [
        edge_id,
        ...others.map((other) => other.edge_id)
      ])
      assert.deepStrictEqual(yield* found, ["primary"])
      const unknown = (yield* restoredIn(100, "primary"))
        .map(({ token }) => token)
        .filter((token) => token !== routing_token)
      yield* tell("seen-b", { present: [routing_token, ...unknown] })
      assert.deepStrictEqual(yield* found, ["seen-b"])
      yield* tell("seen-c", { whole: true, present: [routing_token] })
      assert.deepStrictEqual(yield* found, ["seen-b", "seen-c"])
      yield* tell("primary", { present: [routing_token] })
      assert.deepStrictEqual(yield* found, ["primary", "seen-b"])
      yield* tell("seen-b", { absent: [routing_token] })
      yield* tell("primary", { whole: true })
      assert.deepStrictEqual(yield* found, ["seen-c"])
      yield* inDatabase(SqlClient.SqlClient.use((sql) => sql`update edge_nodes set seen_at = 7 where id = 'seen-c'`))
      assert.deepStrictEqual(yield* found, ["primary"])
      assert.strictEqual((yield* Effect.flip(tell("nowhere", { whole: true })))._tag, "EdgeUnknown")
      const many = Array.from({ length: reportedTunnels + 1 }, () => routing_token)
      assert.throws(() => tell("primary", { present: many }))
    })
  )

  it.effect("restore every authorization with tier and policy, and nothing that was revoked", () =>
    Effect.gen(function* () {
      const { admission, edges, provisioning } = yield* TestServer.client
      const provision = (name: string) =>
        provisioning.provisionTunnel({
          headers: {},
          payload: { subject: Subject.make("s"), name, hostname: host(name) }
        })
      const gelb = yield* provision("gelb.example.test")
      const gruen = yield* provision("gruen.example.test")
      const gone = yield* provision("gone.example.test")
      const token = (made: { readonly routing_token: RoutingToken }) => Redacted.value(made.routing_token)
      yield* admission.issuanceComplete({
        params: { routing_token: Redacted.make(token(gruen)), hostname: "gruen.example.test" },
        payload: {}
      })
      yield* inDatabase(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`update tunnels set access_policy = '{"expires_at":5,"schedule":null}' where name = 'gelb.example.test'`
          yield* sql`update hosts set claim = 'offered', queued_at = null, ca = 'letsencrypt', deadline = 4100000000
            where hostname = 'gelb.example.test'`
          yield* sql`insert into revoked_tokens (routing_token, revoked_at) values (${token(gone)}, 1)`
          yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
            values (${"0".repeat(31) + "1"}, 's', 'bare', ${"5".repeat(64)}, 1),
              (${"0".repeat(31) + "2"}, 's', 'bare too', ${"4".repeat(64)}, 1)`
        })
      )
      const asked = { params: { edge_id: EdgeId.make("primary") }, query: {} }
      const [known, answer] = yield* edges.rehydrate({ ...asked, responseMode: "decoded-and-response" })
      assert.deepStrictEqual<unknown>(yield* answer.json, Schema.encodeSync(Schema.Array(Authorisation))(known))
      const facts = new Map(
        known.map((entry): [string, ReadonlyArray<unknown>] => [
          Redacted.value(entry.token),
          [entry.hostname, entry.tier, entry.policy?.expires_at, entry.admission_until]
        ])
      )
      assert.deepStrictEqual(facts.get(token(gelb)), ["gelb.example.test", "gelb", 5, 4_100_000_000])
      assert.deepStrictEqual(facts.get(token(gruen)), ["gruen.example.test", "passthrough", undefined, null])
      assert.deepStrictEqual(facts.get("5".repeat(64)), [null, "passthrough", undefined, null])
      const accounts = known.map(({ owner_account }) => owner_account)
      const account = Hex.encode(native.sha256(Bytes.fromText("account s")))
      assert.isAtLeast(accounts.filter((name) => name === account).length, 2, "the two bare tunnels have one owner")
      assert.isFalse(facts.has(token(gone)))
      const { tokens } = yield* edges.revokedTokens({ query: {} })
      assert.deepStrictEqual(tokens.map(Redacted.value), [token(gone)])
      for (let limit = 1; limit <= known.length + 1; limit++) {
        assert.deepStrictEqual(yield* restoredIn(limit, "primary"), known, `in pages of ${limit}`)
      }
      const elsewhere = yield* edges.rehydrate({ params: { edge_id: EdgeId.make("other") }, query: {} })
      assert.deepStrictEqual(elsewhere, known, "every edge restores everything")
    })
  )
})
