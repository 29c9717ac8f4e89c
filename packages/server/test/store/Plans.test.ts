/**
 * With many rows in place (`PLAN_ROWS=100000` for the whole measure), no hot request reads a table from end to end. What the requests really did is
 * taken from the statistics of the database, so no statement is written twice.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Accounts from "../harness/Accounts.ts"
import { TestDatabase } from "../harness/TestDatabase.ts"
import { TestIssuer } from "../harness/TestIssuer.ts"
import * as TestServer from "../harness/TestServer.ts"

const rows = Number(process.env["PLAN_ROWS"] ?? 20_000)
const times = 5

const hex = (digits: number) => `lpad(to_hex(n), ${digits}, '0')`
const series = `from generate_series(1, ${rows}) n`
const subject = `'subject-' || (n / 4)`

const fill = [
  `insert into tunnels (id, subject, name, hostname, routing_token, created_at)
    select ${hex(32)}, ${subject}, 'n', 'h' || n || '.example.test', ${hex(64)}, n ${series}`,
  `insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
    select 'h' || n || '.example.test', ${hex(64)}, 'primary', n, 'gelb', 'queued', n ${series}`,
  `insert into tunnel_grants select ${hex(32)}, 'subject-' || n ${series}`,
  `insert into tunnel_visitors select ${hex(32)}, 'v' || n || '@example.test' ${series}`,
  `insert into join_tokens (token_hash, tenant, created_at) select ${hex(64)}, 't', n ${series}`,
  `insert into agents (tenant, agent, pubkey, bound_at) select 't', 'a' || n, ${hex(64)}, n ${series}`,
  `insert into portal_sessions select ${hex(64)}, ${subject}, null, null, '', n, n, n ${series}`,
  `insert into audit_log (actor, action, target, detail, at) select ${subject}, 'act', 'target-' || n, '', n ${series}`,
  `insert into channels select ${hex(64)}, ${subject}, ${hex(64)}, n ${series}`,
  `insert into channel_members select ${hex(64)}, ${hex(64)}, ${hex(64)}, ${hex(128)} ${series}`,
  `insert into channel_allowlist (channel, email) select ${hex(64)}, 'e' || n || '@example.test' ${series}`,
  `insert into accounts (account, subject, balance, created_at) select ${hex(64)}, 'subject-' || n, 0, n ${series}`,
  `insert into payment_intents (payment, account, credits, created_at) select ${hex(64)}, ${hex(64)}, 1, n ${series}`,
  `insert into credit_issuances (account, price, at) select ${hex(64)}, 1, n ${series}`,
  `insert into service_accounts (client_id, owner, name, state, place, internal_id, created_at, due_at)
    select 'sa-' || ${hex(32)}, ${subject}, 'n', 'active', n % 4 + 1, 'i', n, 0 ${series}`,
  `insert into topologies (id, net_uuid, owner, created_at, operator_pubkey, operator_proof)
    select ${hex(32)}, ${hex(32)}, ${subject}, n, ${hex(64)}, ${hex(128)} ${series}`,
  `insert into topology_shares select ${hex(32)}, 'e' || n || '@example.test' ${series}`,
  `insert into topology_agents (agent, owner, topology_id, kind)
    select ${hex(64)}, ${subject}, ${hex(32)}, 'peer' ${series}`,
  `insert into topology_edges (topology_id, a, b, link)
    select ${hex(32)}, lpad(to_hex(n), 64, '0'), lpad(to_hex(n + 1), 64, '0'), ${hex(64)} ${series}`,
  `insert into idempotent_answers (key_hash, request_hash, created_at) select ${hex(64)}, ${hex(64)}, n ${series}`
]
const tables = [
  "tunnels",
  "hosts",
  "tunnel_grants",
  "tunnel_visitors",
  "join_tokens",
  "portal_sessions",
  "audit_log",
  "channels",
  "channel_members",
  "channel_allowlist",
  "accounts",
  "payment_intents",
  "credit_issuances",
  "service_accounts",
  "idempotent_answers",
  "topologies",
  "topology_shares",
  "topology_agents",
  "topology_edges"
]

const token = (n: number) => n.toString(16).padStart(64, "0")
const world = TestDatabase.layer.pipe(Layer.provideMerge(TestIssuer.layer))

/** Everything that agents, edges, browsers and programs ask again and again. */
const requests = Effect.gen(function* () {
  const bearer = { authorization: `Bearer ${yield* Accounts.bearerOf("subject-77")}` }
  const session = { cookie: `__Host-ct_portal_session=${"A".repeat(43)}` }
  const admin = { "x-ct-admin-token": TestServer.adminToken }
  const id = (77 * 4).toString(16).padStart(32, "0")
  const get = (path: string, headers: Record<string, string>) => TestServer.raw(path, { headers })
  const post = (path: string, headers: Record<string, string>, body: unknown) =>
    TestServer.raw(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
  return [
    get("/me/tunnels", bearer),
    get("/me/tunnels?limit=2", bearer),
    get(`/me/tunnels/${id}`, bearer),
    get(`/me/tunnels/${id}/grants`, bearer),
    get(`/me/tunnels/${id}/login-allowlist`, bearer),
    get("/me/channels", bearer),
    get(`/me/channels/${token(77 * 4)}/members`, bearer),
    get(`/me/channels/${token(77 * 4)}/allowlist`, bearer),
    get("/me/topologies", bearer),
    get("/me/topologies?limit=2", bearer),
    get(`/me/topologies/${id}`, bearer),
    get(`/net/${id}`, {}),
    get("/me/account", bearer),
    get("/me/account/credits", bearer),
    get("/me/issue", bearer),
    get("/me/service-accounts", bearer),
    get("/me/service-accounts?limit=2", bearer),
    get(`/me/service-accounts/sa-${id}`, bearer),
    post("/me/issue", bearer, { price: 1, idempotency_key: token(9) }),
    get("/me/audit-log?limit=20", bearer),
    get("/me/tunnels", session),
    get("/admin/audit-log?limit=20&target=target-5", admin),
    get(`/agent/acme-admission/${token(9)}/h9.example.test`, {}),
    get("/internal/edges/lookup?host=h9.example.test", admin),
    get(`/internal/edges/lookup?token=${token(9)}`, admin),
    post("/internal/channel/authorize", admin, { channel: token(5), holder: token(5) }),
    post("/bootstrap/redeem", {}, { token: token(5) }),
    post("/me/tunnels", { ...bearer, "idempotency-key": "k" }, { name: "new" }),
    post("/me/channels", bearer, { channel: token(7), operator_pubkey: token(7) })
  ]
})

layer(world, { excludeTestServices: true, timeout: "120 seconds" })("a full database", (it) => {
  it.effect(
    "is read by its indexes",
    () =>
      Effect.gen(function* () {
        const inDatabase = Effect.provide(Accounts.database)
        yield* inDatabase(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            for (const statement of fill) yield* sql.unsafe(statement)
            yield* sql.unsafe("vacuum analyze")
            yield* sql.unsafe("select pg_stat_reset()")
          })
        )
        const { issuer } = yield* TestIssuer
        // The statistics of a connection are complete when it has been closed.
        yield* Effect.gen(function* () {
          for (const request of yield* requests) {
            for (let n = 0; n < times; n++) assert.isBelow((yield* request).status, 500)
          }
        }).pipe(Effect.provide(Layer.fresh(TestServer.replica({ CT_OIDC_ISSUER: issuer }))))
        const read = yield* inDatabase(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            return yield* sql<{ relname: string; read: number }>`
            select relname, seq_tup_read as read from pg_stat_user_tables where relname = any(${tables}::text[])`
          })
        )
        assert.strictEqual(read.length, tables.length)
        // The public counts read some tables once, when the server starts.
        assert.deepStrictEqual(
          read.filter(({ read }) => read > 2 * rows),
          []
        )
      }),
    240_000
  )
})
