/**
 * In a database that is full of what belongs to others, no request, no command and no sweep reads a table from end to
 * end, and every index that is no key is of use to one of them. What was really read is taken from the statistics of
 * the database, so no statement is written twice. `PLAN_ROWS` says how full it is.
 */
import * as Accounts from "@catenet/testing/server/Accounts"
import { grantBy, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Crowd from "./Crowd.ts"

const rows = Number(process.env["PLAN_ROWS"] ?? 25_000)
/** Often enough for an end-to-end read to show among what is read once, when a server starts. */
const times = 5

const server = Layer.mergeAll(TestDatabase.layer, RecordingEdge.layer).pipe(Layer.provideMerge(TestIssuer.layer))

const id = (n: number) => n.toString(16).padStart(32, "0")
const token = (n: number) => n.toString(16).padStart(64, "0")
/** The first of the four of most things that the account has. */
const own = 77 * 4

type Headers = Readonly<Record<string, string>>
const get = (path: string, headers: Headers = {}) => TestServer.raw(path, { headers, redirect: "manual" })
const write = (method: string, path: string, headers: Headers, body?: unknown) =>
  TestServer.raw(path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

/** The end of the hosts that an edge restores, behind which are the tunnels without one. */
const lastHost = Buffer.from('{"bare":true,"place":""}').toString("base64url")

const admin = { "x-ct-admin-token": TestServer.adminToken }

/** Everything that agents, edges, browsers and programs ask again and again. */
const requests = (bearer: Headers, session: Headers) => {
  const post = (path: string, headers: Headers, body?: unknown) => write("POST", path, headers, body)
  const tunnel = `/me/tunnels/${id(own)}`
  const channel = `/me/channels/${token(own)}`
  const topology = `/me/topologies/${id(own)}`
  const mine = [
    ...["", "?limit=2"].flatMap((page) =>
      [
        "/me/tunnels",
        "/me/channels",
        "/me/topologies",
        "/me/service-accounts",
        "/me/pipelines",
        "/me/usage",
        "/me/fleet"
      ].map((list) => list + page)
    ),
    ...["", "/grants", "/login-allowlist", "/access-requests", "/alert", "/alert/deliveries", "/access", "/badge"].map(
      (part) => tunnel + part
    ),
    ...["/share-links", "/share-links?limit=1", "/agent-bridge", "/uptime"].map((part) => tunnel + part),
    ...["", "/members", "/grants", "/allowlist", "/claim-invites"].map((part) => channel + part),
    ...["", "/operator", "/share"].map((part) => topology + part),
    "/me/rooms",
    "/me/account",
    "/me/account/credits",
    "/me/issue",
    "/me/audit-log?limit=20",
    `/me/service-accounts/sa-${id(own)}`
  ]
  return [
    ...mine.map((path) => get(path, bearer)),
    get("/me/tunnels", session),
    get("/me/topologies/shared", session),
    get("/portal/claims", session),
    get("/portal/notices", session),
    get("/portal/fleet?tab=events", session),
    get("/portal/channels", session),
    get("/portal/topologies", session),
    get(`/portal/channels/${token(own)}/grant`, session),
    get(`/portal/claims/invite?invite=${"A".repeat(43)}`, session),
    get("/me/tunnels", { cookie: `__Host-ct_portal_session=${"A".repeat(43)}` }),
    get("/registry/pipelines?limit=20"),
    get("/registry/pipelines/p9"),
    get("/registry/agents?role=role-77"),
    get("/registry/agents?skill=skill-77&limit=2"),
    get(`/registry/agents/${token(9)}`),
    get(`/registry/resolve/${token(9)}`),
    get(`/net/${id(own)}/topology`),
    get(`/badge/${token(own)}.svg`),
    get(`/agent/acme-admission/${token(9)}/h9.d9.example.test`),
    get("/gate/check", { "x-forwarded-host": `h9.d9.example.test`, cookie: `ct_gate_session=${"A".repeat(43)}` }),
    ...[`/accounts/${token(9)}`, `/payment/intent/${token(9)}`, "/admin/accounts/subject-77"].map((path) =>
      get(path, admin)
    ),
    ...["target=target-5", "action=act-5", "actor=subject-77", "since=4000000000"].map((filter) =>
      get(`/admin/audit-log?limit=20&${filter}`, admin)
    ),
    get("/internal/edges/lookup?host=h9.d9.example.test", admin),
    get(`/internal/edges/lookup?token=${token(9)}`, admin),
    // Without a limit it is every host there is: an edge restores them all.
    ...["?limit=1000", "?limit=2", `?limit=2&cursor=${lastHost}`].map((page) =>
      get(`/internal/edges/rehydrate/edge-5${page}`, admin)
    ),
    post("/internal/edges/heartbeat", admin, { id: "edge-5", peer_addr: "edge:1" }),
    post("/internal/edges/presence", admin, { edge_id: "edge-5", whole: true, present: [token(9)], absent: [] }),
    post("/internal/edges/presence", admin, { edge_id: "edge-5", whole: false, present: [], absent: [token(9)] }),
    post("/internal/channel/authorize", admin, { channel: token(5), holder: token(5) }),
    post("/internal/channel/authorize", admin, { channel: token(5), holder: token(6) }),
    post("/enroll/issue", admin, { tenant: "t" }),
    post("/channel/invite/challenge", {}),
    post("/bootstrap/redeem", {}, { token: token(5) }),
    post("/me/issue", bearer, { price: 1, idempotency_key: token(9) }),
    post("/me/tunnels", { ...bearer, "idempotency-key": "k" }, { name: "new" }),
    post("/me/channels", bearer, { channel: token(7), operator_pubkey: token(7) }),
    post(`${channel}/members`, bearer, materialOf(token(own), "m")),
    post(`${channel}/grants/${keyOf("m")}`, bearer, { grant: grantBy("operator", token(own), "m") }),
    post(`${tunnel}/verify-hostname`, bearer),
    post(`${tunnel}/grants`, bearer, { grantee: "friend" }),
    post(`${tunnel}/login-allowlist`, bearer, { email: "friend@example.test" }),
    post(`${tunnel}/share-links`, bearer, { ttl: "1h" }),
    write("PUT", `${tunnel}/access`, bearer, { expires_at: 4_000_000_000 }),
    post(`${topology}/agents`, bearer, { agent: token(own + 1) }),
    post(`${topology}/edges`, bearer, { a: token(1), b: token(2) }),
    write("DELETE", `${topology}/agents/${token(own)}`, bearer),
    write("PUT", `${topology}/operator`, bearer, { operator_pubkey: token(1), proof: "0".repeat(128) })
  ]
}

/** What ends things, which can be asked once. */
const once = (bearer: Headers, session: Headers) => [
  write("POST", `/me/tunnels/${id(own)}/alert/test`, bearer),
  write("DELETE", `/me/tunnels/${id(own + 1)}`, bearer),
  write("DELETE", `/me/channels/${token(own + 1)}`, bearer),
  write("DELETE", `/me/topologies/${id(own + 1)}`, bearer),
  write("POST", "/me/account/delete", session, { confirm: "DELETE" })
]

/** Sweeps of all kinds, as often as can be. */
const sweeping = {
  CT_CP_OUTBOX_TICK_SECS: "1",
  CT_CP_ALERT_TICK_SECS: "1",
  CT_CP_ACME_BROKER_ENABLED: "1",
  CT_CP_ACME_BROKER_TICK_SECS: "1",
  CT_CP_PLATFORM_ACME: "letsencrypt",
  CT_CP_SERVICE_ACCOUNT_TICK_SECS: "1",
  CT_CP_ADMIN_AUDIT_RETENTION_DAYS: "1",
  CT_CP_SMTP_URL: "smtp://127.0.0.1:1",
  CT_CP_MAIL_TICK_SECS: "1",
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "example.test",
  CT_BRIDGE_HOLDER_KEY: "11".repeat(32),
  CT_BRIDGE_NOISE_KEY: "22".repeat(32)
}

/** Tables of which the public counts and the metrics read some once, when a server starts, and a few pages of others. */
const allowed = 2 * rows + 1_000

/** Indexes that none of it uses, and why they are there. */
const idle: Readonly<Record<string, string>> = {
  address_records_due: "asked by a server that has a DNS back end",
  credit_ledger_account: "for an operator who checks a balance by hand",
  gate_codes_sign_in: "asked when a visitor signs out",
  gate_sessions_sign_in: "asked when a visitor signs out",
  idempotent_answers_caller: "asked at about one write in 32",
  issuances_fingerprint: "asked when a certificate is seen for the first time",
  mailed_notices_mail: "asked when a mail is sent, and when an old one is deleted",
  notice_mails_subject: "asked when an account is deleted",
  platform_certificates_revision: "asked by an edge that fetches certificates",
  service_accounts_due: "asked by a server that may make clients in the realm",
  ...Object.fromEntries(
    [
      "codes_expires",
      "links_user",
      "mails_due",
      "passkeys_user",
      "records_account",
      "records_expires",
      "records_grant",
      "records_payload",
      "records_uid",
      "records_user_code"
    ].map((name) => [`sign_in_${name}`, "asked by the platform's own identity provider"])
  )
}

const answered = <R>(request: Effect.Effect<Response, never, R>, below: number) =>
  Effect.map(request, ({ status, url }) => assert.isBelow(status, below, url))

const inDatabase = Effect.provide(Accounts.database)

/** How many rows of each table were read without an index, and how often each index was, that is no key. */
const statistics = inDatabase(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string; read: number; inserted: number }>`
      select relname as name, seq_tup_read as read, n_tup_ins as inserted from pg_stat_user_tables`
    const indexes = yield* sql<{ name: string; uses: number }>`
      select s.indexrelname as name, s.idx_scan as uses from pg_stat_user_indexes s join pg_index i using (indexrelid)
      where not i.indisunique order by 1`
    return { tables, indexes }
  })
)

/** A connection tells what it has done when it ends, and a moment after. */
const until = (enough: (seen: Effect.Success<typeof statistics>) => boolean) =>
  Effect.repeat(statistics, { until: enough, schedule: Schedule.spaced("200 millis"), times: 300 })

const filledIn = <A extends { readonly name: string }>(tables: ReadonlyArray<A>) =>
  tables.filter(({ name }) => Crowd.tables.includes(name))

layer(server, { excludeTestServices: true, timeout: "120 seconds" })("a full database", (it) => {
  it.effect(
    "is read by its indexes, and uses all of them",
    () =>
      Effect.gen(function* () {
        yield* inDatabase(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            for (const statements of Crowd.statements(rows)) {
              yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { concurrency: 2, discard: true })
            }
          })
        )
        const before = yield* until(({ tables }) => filledIn(tables).every(({ inserted }) => inserted >= rows))
        const { issuer } = yield* TestIssuer
        const edge = yield* RecordingEdge
        const settings = { ...sweeping, CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: edge.url }
        yield* Effect.gen(function* () {
          const bearer = { authorization: `Bearer ${yield* Accounts.bearerOf("subject-77")}` }
          const cookie = yield* Accounts.sessionOf("subject-77", `e${own}@example.test`)
          const session = { cookie: `__Host-ct_portal_session=${cookie}` }
          for (const request of requests(bearer, session)) {
            for (let n = 0; n < times; n++) yield* answered(request, 500)
          }
          for (const request of once(bearer, session)) yield* answered(request, 300)
        }).pipe(Effect.provide(Layer.fresh(TestServer.replica(settings))))
        const unusedIn = ({ indexes }: typeof before) =>
          indexes.flatMap(({ name, uses }, n) => (uses === before.indexes[n]?.uses && !(name in idle) ? [name] : []))
        const after = yield* until((seen) => unusedIn(seen).length === 0)
        const filled = filledIn(after.tables)
        assert.strictEqual(filled.length, Crowd.tables.length)
        const readBefore = new Map(before.tables.map(({ name, read }) => [name, read]))
        const read = filled.map((table) => ({ name: table.name, read: table.read - (readBefore.get(table.name) ?? 0) }))
        assert.deepStrictEqual(
          read.filter((table) => table.read > allowed),
          []
        )
        assert.deepStrictEqual(unusedIn(after), [])
        const others = after.tables.filter(({ name }) => !Crowd.tables.includes(name)).map(({ name }) => name)
        assert.deepStrictEqual(
          others.sort(),
          [
            "audit_retention",
            // Of orders that are open; authorities' budgets bound them.
            "certificate_progress",
            "edge_addresses",
            "edge_nodes",
            "pruned_redemptions",
            // At most 65,535 of each protocol.
            "public_ports",
            "schema_migrations",
            // Of the platform's own identity provider.
            "sign_in_applications",
            "sign_in_clients",
            "sign_in_codes",
            "sign_in_keys",
            "sign_in_links",
            "sign_in_mails",
            "sign_in_passkeys",
            "sign_in_records",
            "sign_in_users",
            "tunnel_watch_round"
          ],
          "tables that stay small"
        )
      }),
    900_000
  )
})
