/**
 * No table grows without a limit by what one account, caller or address does. Each table of the schema has a row here: the
 * constant that caps it, or the reason for which it needs none. A new table needs a row. One file, since the list is whole in one
 * place.
 */
import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import * as Quotas from "@catenet/domain/values/Quotas"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { globSync, readFileSync } from "node:fs"
import { makeInvitationStore } from "../../src/channels/Invitations.ts"

/** A cap is named by its constant, a reason says why there is none. */
interface Bound {
  readonly cap?: string
  readonly reason?: string
}

const ofTunnel = (cap: string) => ({ cap: "tunnelsPerAccount", reason: cap })
const grownByOperator = "only the operator adds to it"

const bounds: Readonly<Record<string, Bound>> = {
  account_emails: { reason: "one row for each account that the identity provider has" },
  account_events: { cap: "maxEventsPerAccount" },
  account_limits: { reason: grownByOperator },
  accounts: { reason: "opened by the operator, and once by each account that buys" },
  address_records: ofTunnel("one row for each host name of a tunnel"),
  agent_presence: ofTunnel("one row for each tunnel and edge at which it has an agent"),
  agents: { cap: "maxAgentsPerTunnel" },
  alert_deliveries: { cap: "deliveryBudget" },
  alerts: ofTunnel("one row for each tunnel"),
  audit_log: { reason: "each entry is one request; kept for the days that the operator sets" },
  audit_retention: { reason: "one row" },
  badges: ofTunnel("one row for each tunnel"),
  bootstrap_tokens: { cap: "maxBootstrapTokensPerAccount" },
  bridges: ofTunnel("one row for each tunnel"),
  certificate_progress: ofTunnel("one row for each host name"),
  channel_allowlist: { cap: "maxAllowedPerChannel" },
  channel_claims: { cap: "maxMembersPerChannel" },
  channel_grants: { cap: "maxMembersPerChannel" },
  channel_members: { cap: "maxMembersPerChannel" },
  channels: { cap: "channelsPerAccount" },
  claim_invites: { cap: "maxOpenInvitesPerChannel" },
  credit_issuances: { reason: "each row was paid with a credit" },
  credit_ledger: { reason: "each row was paid for, or spends what was paid for" },
  directory_agents: { cap: "maxListedAgentsPerAccount" },
  edge_addresses: { reason: grownByOperator },
  edge_nodes: { reason: grownByOperator },
  gate_codes: { reason: "each ends after a minute; an address has requests per minute" },
  gate_sessions: { cap: "maxGateSessionsPerVisitor" },
  gate_sign_ins: { reason: "each ends after ten minutes; an address has requests per minute" },
  hostname_claims: ofTunnel("one row for each tunnel"),
  hosts: ofTunnel("one row for each tunnel"),
  idempotent_answers: { cap: "maxAnswersPerCaller" },
  invitation_challenges: { cap: "maxChallenges" },
  invitation_redemptions: { reason: "each was signed by a channel's operator, and ends with its invitation" },
  issuance_failures: ofTunnel("one row for each host name and authority"),
  issuances: { cap: "weeklyBudget" },
  join_batches: { reason: grownByOperator },
  join_tokens: { cap: "maxJoinTokensPerTenant" },
  mail_accounts: { reason: "one row for each account" },
  mailed_notices: { reason: "one row for each notice of an account, and a notice is about something that is capped" },
  notice_mails: { reason: "one row for each account and hour" },
  outbox: { reason: "each order is one request of an account; orders of edges that are gone are deleted" },
  payment_intents: { cap: "maxUnconfirmedPerAccount" },
  pipelines: { cap: "maxPipelinesPerAccount" },
  platform_accounts: { reason: "one row for each authority that was configured" },
  platform_certificate_edges: { reason: "one row for each edge with a pinned key, and for a day" },
  platform_certificates: { reason: "one row for each gelb host, and for a week's budget of those that were one" },
  portal_sessions: { cap: "maxSessionsPerAccount" },
  portal_sign_ins: { reason: "each ends after ten minutes; an address has requests per minute" },
  pruned_redemptions: { reason: "one row" },
  rendezvous: { reason: grownByOperator },
  request_counts: { reason: "one row for each key, and each lasts a minute" },
  revoked_tokens: { cap: "maxRevokedPerAccount" },
  room_pairs: { cap: "channelsPerAccount" },
  schema_migrations: { reason: "one row for each migration" },
  service_account_makers: {
    reason: "one row for each service account, and for each that is gone as long as its subject owns what is capped"
  },
  service_accounts: { cap: "maxServiceAccounts" },
  share_links: { cap: "maxEndedLinksPerTunnel" },
  sign_in_applications: { reason: "2,000 at most, shared among networks (idp Applications)" },
  sign_in_clients: { cap: "maxServiceAccounts" },
  sign_in_codes: { reason: "each ends after ten minutes; an address has sign-ins per minute (idp IdentityProvider)" },
  sign_in_keys: { reason: "a new one each month, and each for seventy days" },
  sign_in_links: { reason: "one row for each account and provider elsewhere that it has signed in at" },
  sign_in_mails: { reason: "each ends after ten minutes; an address has mails per hour (idp EmailCodes)" },
  sign_in_passkeys: { cap: "maxPasskeysPerAccount" },
  sign_in_records: { reason: "each ends after its time; an address has sign-ins per minute (idp IdentityProvider)" },
  sign_in_users: { reason: "one row for each account" },
  ticket_keys: { reason: "the keys of two days" },
  topologies: { cap: "maxTopologiesPerAccount" },
  topology_agents: { cap: "maxAgentsPerTopology" },
  topology_edges: { cap: "maxEdgesPerTopology" },
  topology_noise_keys: { cap: "maxEdgesPerTopology" },
  topology_shares: { cap: "maxSharesPerTopology" },
  public_ports: { reason: "one row for each port that edges offer or have offered" },
  tunnel_access_requests: { cap: "maxAccessRequestsPerTunnel" },
  tunnel_grants: { cap: "maxGrantsPerTunnel" },
  tunnel_policies: ofTunnel("one row for each tunnel"),
  tunnel_visitors: { cap: "maxVisitorsPerTunnel" },
  tunnel_watch_round: { reason: "one row" },
  tunnel_watches: ofTunnel("one row for each tunnel"),
  tunnels: { cap: "tunnelsPerAccount" }
}

interface Capped {
  readonly table: string
  readonly most: number
  /** Columns and values of the row number `n` of a holder, the oldest first. */
  readonly row: (holder: string) => string
  /** Which rows are of a holder. */
  readonly of: (holder: string) => string
  /** What the oldest row, number 1, is found by. */
  readonly oldest: string
  /** Rows above the cap after which one has given way: 1 unless writes are looked at by chance, then as many as make it certain. */
  readonly more?: number
}

const hex = (text: string) => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`
const named = (holder: string) => hex(`'${holder}' || n`)
const recent = "extract(epoch from now())::bigint"

const capped: ReadonlyArray<Capped> = [
  {
    table: "account_events",
    most: Quotas.maxEventsPerAccount,
    row: (holder) =>
      `(subject, at, kind, action, about, name)
        select '${holder}', ${recent} + n, 'outage', 'tunnel_up', '', ${named(holder)}`,
    of: (holder) => `subject = '${holder}'`,
    oldest: "name"
  },
  {
    table: "idempotent_answers",
    most: Quotas.maxAnswersPerCaller,
    row: (holder) =>
      `(key_hash, request_hash, caller, nonce, sealed, created_at)
        select ${named(holder)}, ${named(holder)}, '${holder}', 'x', 'x', ${recent} + n`,
    of: (holder) => `caller = '${holder}'`,
    oldest: "key_hash",
    more: 1_000
  },
  {
    table: "revoked_tokens",
    most: Quotas.maxRevokedPerAccount,
    row: (holder) =>
      `(routing_token, revoked_at, holder) select ${named(holder)}, ${recent}, revocation_holder('${holder}')`,
    of: (holder) => `holder = revocation_holder('${holder}')`,
    oldest: "routing_token"
  },
  {
    table: "invitation_challenges",
    most: Quotas.maxChallengesPerBlock,
    row: (holder) => `(challenge, issued_at, block) select ${named(holder)}, ${recent} + n, '${holder}'`,
    of: (holder) => `block = '${holder}'`,
    oldest: "challenge"
  },
  {
    table: "agents",
    most: Quotas.maxAgentsPerTunnel,
    row: (holder) =>
      `(tenant, agent, tunnel, pubkey, bound_at) select '${holder}', 'a' || n, '', ${named(holder)}, ${recent} + n`,
    of: (holder) => `tenant = '${holder}'`,
    oldest: "pubkey"
  },
  {
    table: "portal_sessions",
    most: Quotas.maxSessionsPerAccount,
    row: (holder) =>
      `(token_hash, subject, user_agent, created_at, seen_at, expires_at)
        select ${named(holder)}, '${holder}', '', ${recent}, ${recent} + n, ${recent} + 9000`,
    of: (holder) => `subject = '${holder}'`,
    oldest: "token_hash"
  },
  {
    table: "gate_sessions",
    most: Quotas.maxGateSessionsPerVisitor,
    row: (holder) =>
      `(token_hash, host, subject, expires_at) select ${named(holder)}, 'h.test', '${holder}', ${recent} + 9000 + n`,
    of: (holder) => `subject = '${holder}'`,
    oldest: "token_hash"
  }
]

const database = Layer.unwrap(Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url, maxConnections: 1 })))

const server = Layer.unwrap(Effect.map(TestIssuer, ({ issuer }) => TestServer.layer({ CT_OIDC_ISSUER: issuer }))).pipe(
  Layer.provideMerge(TestIssuer.layer)
)

const rows = (table: string, where = "true") =>
  SqlClient.SqlClient.use((sql) =>
    Effect.map(
      sql.unsafe<{ count: number }>(`select count(*)::int as count from ${table} where ${where}`),
      ([found]) => found?.count
    )
  )

layer(Layer.provideMerge(database, server), { excludeTestServices: true, timeout: "60 seconds" })(
  "rows of the database",
  (it) => {
    it.effect("of every table are capped, or need no cap for a reason that is written here", () =>
      Effect.gen(function* () {
        const tables = yield* SqlClient.SqlClient.use(
          (sql) => sql<{ name: string }>`select table_name as name from information_schema.tables
            where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`
        )
        assert.deepStrictEqual(
          tables.map(({ name }) => name),
          Object.keys(bounds).toSorted()
        )
        const sources = ["domain", "server"].flatMap((name) =>
          globSync(`packages/${name}/src/**/*.ts`, { cwd: `${import.meta.dirname}/../../../..` })
        )
        const text = sources
          .map((path) => readFileSync(`${import.meta.dirname}/../../../../${path}`, "utf8"))
          .join("\n")
        for (const [table, { cap, reason }] of Object.entries(bounds)) {
          assert.isTrue(cap !== undefined || (reason !== undefined && reason.length > 0), table)
          if (cap !== undefined)
            assert.isAtLeast(text.split(new RegExp(`\\b${cap}\\b`, "u")).length, 3, `${table}: ${cap}`)
        }
      })
    )

    for (const { more = 1, most, of, oldest, row, table } of capped) {
      it.effect(`of ${table} are ${most} at most for one holder, and its oldest gives way`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const first = (holder: string) => rows(table, `${of(holder)} and ${oldest} = ${hex(`'${holder}' || 1`)}`)
          const fill = (holder: string, from: number, to: number) =>
            sql.unsafe(`insert into ${table} ${row(holder)} from generate_series(${from}, ${to}) n`)
          yield* fill("small", 1, 1)
          yield* fill("greedy", 1, most)
          assert.deepStrictEqual([yield* rows(table, of("greedy")), yield* first("greedy")], [most, 1])
          yield* fill("greedy", most + 1, most + more)
          assert.deepStrictEqual([yield* rows(table, of("greedy")), yield* first("greedy")], [most, 0])
          assert.strictEqual(yield* first("small"), 1)
          yield* sql.unsafe(`delete from ${table}`)
        })
      )
    }

    it.effect("of revoked tokens stay for as long as an edge has to hear of them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const fill = (from: number, to: number) =>
          sql.unsafe(`insert into revoked_tokens (routing_token, revoked_at, holder)
            select ${named("away")}, ${recent}, 'away' from generate_series(${from}, ${to}) n`)
        yield* fill(1, 1)
        yield* sql.unsafe(`insert into outbox (queue, edge, call, created_at, due_at)
          values (${hex("'away' || 1")}, 'e', '{"_tag":"Revoke"}', 1, ${recent} + 9000)`)
        yield* fill(2, Quotas.maxRevokedPerAccount + 5)
        assert.strictEqual(yield* rows("revoked_tokens", "holder = 'away'"), Quotas.maxRevokedPerAccount + 1)
        assert.strictEqual(yield* rows("revoked_tokens", `routing_token = ${hex("'away' || 1")}`), 1)
        yield* sql`delete from outbox`
        yield* sql`delete from revoked_tokens`
      })
    )

    it.effect("of challenges are so many in all, and the blocks that have the most give way", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { prune } = yield* makeInvitationStore
        const few = Quotas.maxChallenges - 2
        yield* sql.unsafe(`insert into invitation_challenges (challenge, issued_at, block)
          select ${named("many")}, ${recent} + n, 'b' || (n % ${few}) from generate_series(0, ${Quotas.maxChallenges - 1}) n`)
        yield* prune(0, 0)
        assert.strictEqual(yield* rows("invitation_challenges"), Quotas.maxChallenges)
        yield* sql.unsafe(`insert into invitation_challenges select ${hex("'new'")}, ${recent} - 9, 'new'`)
        yield* prune(0, 0)
        assert.strictEqual(yield* rows("invitation_challenges"), Quotas.maxChallenges)
        assert.strictEqual(yield* rows("invitation_challenges", "block = 'new'"), 1)
        assert.strictEqual(yield* rows("invitation_challenges", "block in ('b0', 'b1')"), 3, "of those that had two")
        yield* sql`delete from invitation_challenges`
      })
    )

    it.effect("name their holder, whoever writes them", () =>
      Effect.gen(function* () {
        const owner = yield* TestServer.clientAs({ bearer: yield* bearerOf("ada") })
        const made = yield* owner.tunnels.create({
          headers: { "idempotency-key": "once" },
          payload: { name: Schema.decodeSync(TunnelName)("one") }
        })
        yield* owner.tunnels.remove({ params: { id: made.id } })
        const { invitations } = yield* TestServer.client
        yield* invitations.challenge()
        assert.strictEqual(yield* rows("idempotent_answers", "caller ~ '^[0-9a-f]{64}$'"), 1)
        assert.strictEqual(yield* rows("revoked_tokens", "holder ~ '^[0-9a-f]{64}$'"), 1)
        assert.strictEqual(yield* rows("invitation_challenges", "block <> '' and block not like '%127.0.0.1%'"), 1)
      })
    )
  }
)
