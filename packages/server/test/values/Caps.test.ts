import * as Quotas from "@catenet/domain/values/Quotas"
import { database, serviceAccountOf, server } from "@catenet/testing/server/Accounts"
import { account, ask, otherReplica } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { enlistedBy } from "../agents/Enlisting.ts"

const ada = account("ada")
const hex = (n: number, digits = 64) => n.toString(16).padStart(digits, "0")
const channel = idOf("full")
const tunnel = "1".repeat(32)
const topology = "2".repeat(32)
const recent = "extract(epoch from now())::bigint"
const role = { service: "SafetyCheck", units: 1, tag: "t" }

interface Case {
  readonly of: string
  /** Who asks; ada, when not said. */
  readonly as?: "operator"
  readonly limit: number
  /** The same body from a service account that ada made. */
  readonly byRobot?: unknown
  /** Inserts so many rows, numbered by n from 1. */
  readonly fill: string
  readonly path: string
  /** A body for each n: those from 1 to `limit` - 1 are there. */
  readonly body: (n: number) => unknown
  readonly count: string
  /** Whether one that is there may be added again. */
  readonly repeatable: boolean
  /** Rows that have ended and are kept for a while, of which there are at most so many. */
  readonly ended?: { readonly count: string; readonly most: number }
}

const cases: ReadonlyArray<Case> = [
  {
    of: "members of this channel",
    limit: Quotas.maxMembersPerChannel,
    fill: `insert into channel_members select '${channel}', md5('m' || n) || md5('h' || n), repeat('0', 64), repeat('0', 128)`,
    path: `/me/channels/${channel}/members`,
    body: (n) => materialOf(channel, `member ${n}`),
    count: `channel_members where channel = '${channel}'`,
    repeatable: false
  },
  {
    of: "addresses on the allow-list of this channel",
    limit: Quotas.maxAllowedPerChannel,
    fill: `insert into channel_allowlist select '${channel}', 'v' || n || '@example.test'`,
    path: `/me/channels/${channel}/allowlist`,
    body: (n) => ({ email: `v${n}@example.test` }),
    count: `channel_allowlist where channel = '${channel}'`,
    repeatable: true
  },
  {
    of: "open claim invites of this channel",
    limit: Quotas.maxOpenInvitesPerChannel,
    fill: `with ended as (insert into claim_invites
        select md5('e' || n) || md5('f' || n), '${channel}', repeat('0', 64), repeat('0', 64), repeat('0', 128), null,
          case when n % 2 = 0 then 1 else ${recent} + 600 end, case when n % 2 = 0 then null else 1 end
        from generate_series(1, ${2 * Quotas.maxEndedInvitesPerChannel}) n)
      insert into claim_invites select md5('i' || n) || md5('j' || n), '${channel}', repeat('0', 64), repeat('0', 64),
        repeat('0', 128), null, ${recent} + 600, null`,
    path: `/me/channels/${channel}/claim-invites`,
    body: (n) => materialOf(channel, `invited ${n}`),
    count: `claim_invites where channel = '${channel}' and used_at is null and expires_at > ${recent}`,
    repeatable: false,
    ended: {
      count: `claim_invites where channel = '${channel}' and (used_at is not null or expires_at <= ${recent})`,
      most: Quotas.maxEndedInvitesPerChannel
    }
  },
  {
    of: "unconfirmed payments of this account",
    limit: Quotas.maxUnconfirmedPerAccount,
    fill: `with others as (insert into payment_intents
        select md5('c' || n) || md5('p' || n), account, 1, true, 1 from accounts, generate_series(1, 150) n
          where subject = 'ada')
      insert into payment_intents select md5('p' || n) || md5('q' || n), (select account from accounts where subject = 'ada'),
        1, false, ${recent}`,
    path: "/me/account/credits",
    body: () => ({ credits: 1 }),
    byRobot: { credits: 1 },
    count: `payment_intents where not confirmed`,
    repeatable: false
  },
  {
    of: "visitors of this tunnel",
    limit: Quotas.maxVisitorsPerTunnel,
    fill: `insert into tunnel_visitors select '${tunnel}', 'v' || n || '@example.test'`,
    path: `/me/tunnels/${tunnel}/login-allowlist`,
    body: (n) => ({ email: `v${n}@example.test` }),
    count: `tunnel_visitors where tunnel_id = '${tunnel}'`,
    repeatable: true
  },
  {
    of: "grants of this tunnel",
    limit: Quotas.maxGrantsPerTunnel,
    fill: `insert into tunnel_grants select '${tunnel}', 'guest-' || n`,
    path: `/me/tunnels/${tunnel}/grants`,
    body: (n) => ({ grantee: `guest-${n}` }),
    count: `tunnel_grants where tunnel_id = '${tunnel}'`,
    repeatable: true
  },
  {
    of: "agents of this topology",
    limit: Quotas.maxAgentsPerTopology,
    fill: `insert into topology_agents (agent, owner, topology_id, kind)
      select lpad(to_hex(n), 64, '0'), 'ada', '${topology}', 'peer'`,
    path: `/me/topologies/${topology}/agents`,
    body: (n) => ({ agent: hex(n) }),
    count: `topology_agents where topology_id = '${topology}'`,
    repeatable: false
  },
  {
    of: "edges of this topology",
    limit: Quotas.maxEdgesPerTopology,
    fill: `insert into topology_edges (topology_id, a, b) select '${topology}', lpad(to_hex(n), 64, '0'), repeat('f', 64)`,
    path: `/me/topologies/${topology}/edges`,
    body: (n) => ({ a: hex(n), b: "f".repeat(64) }),
    count: `topology_edges where topology_id = '${topology}'`,
    repeatable: false
  },
  {
    of: "shares of this topology",
    limit: Quotas.maxSharesPerTopology,
    fill: `insert into topology_shares select '${topology}', 'v' || n || '@example.test'`,
    path: `/me/topologies/${topology}/share`,
    body: (n) => ({ email: `v${n}@example.test` }),
    count: `topology_shares where topology_id = '${topology}'`,
    repeatable: true
  },
  {
    of: "pipelines of this account",
    limit: Quotas.maxPipelinesPerAccount,
    fill: `insert into pipelines select 'p' || n, 'ada', '{}', 1`,
    path: "/me/pipelines",
    body: (n) => ({ spec: { id: `p${n}`, roles: [role] } }),
    byRobot: { spec: { id: "robots", roles: [role] } },
    count: "pipelines where owner = 'ada'",
    repeatable: true
  },
  {
    of: "agents of this account in the directory",
    limit: Quotas.maxListedAgentsPerAccount,
    fill: `insert into directory_agents (holder_pubkey, card_url, role_tags, skill_ids, registered_at, subject, expires_at)
      select lpad(to_hex(n), 64, '0'), 'https://a.example/', '{}', '{}', 1, 'ada', 4000000000`,
    path: "/me/agents-directory",
    body: (n) => enlistedBy("ada", `capped ${n}`),
    byRobot: enlistedBy("robot", "robots"),
    count: "directory_agents where subject = 'ada'",
    repeatable: true
  },
  {
    of: "join tokens that no agent has redeemed",
    limit: Quotas.maxJoinTokensPerTenant,
    fill: `insert into join_tokens (token_hash, tenant, created_at)
      select lpad(to_hex(n), 64, '0'), 'ada', ${recent}`,
    path: `/me/tunnels/${tunnel}/install`,
    body: () => ({}),
    count: "join_tokens where tenant = 'ada'",
    repeatable: false
  },
  {
    of: "join tokens that no agent has redeemed",
    as: "operator",
    limit: Quotas.maxJoinTokensPerTenant,
    fill: `insert into join_tokens (token_hash, tenant, created_at)
      select md5('t' || n) || md5('u' || n), 'tenant', ${recent}`,
    path: "/enroll/issue-batch",
    body: () => ({ tenant: "tenant", count: 1 }),
    count: "join_tokens where tenant = 'tenant'",
    repeatable: false
  },
  {
    of: "bootstrap tokens that still give out a secret",
    limit: Quotas.maxBootstrapTokensPerAccount,
    fill: `insert into bootstrap_tokens (token_hash, sealed, created_at, expires_at, minted_by)
      select md5('b' || n) || md5('c' || n), '\\x00', 1, ${recent} + 600, 'ada'`,
    path: `/me/channels/${channel}/join-links`,
    body: () => ({ secret: "s" }),
    count: "bootstrap_tokens where minted_by = 'ada'",
    repeatable: false
  },
  {
    of: "bootstrap tokens that still give out a secret",
    as: "operator",
    limit: Quotas.maxBootstrapTokens,
    fill: `with gone as (delete from bootstrap_tokens) insert into bootstrap_tokens (token_hash, sealed, created_at, expires_at)
      select lpad(to_hex(n), 64, '0'), '\\x00', 1, ${recent} + 600`,
    path: "/bootstrap/mint",
    body: () => ({ secret: "s" }),
    count: "bootstrap_tokens",
    repeatable: false
  }
]

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "what has as many as it may have",
  (it) => {
    it.effect("takes none more, at two replicas at once, and says which limit that is", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const elsewhere = yield* otherReplica
        yield* sql`insert into channels values (${channel}, 'ada', ${keyOf("operator")}, 1)`
        yield* sql`insert into tunnels (id, subject, name, routing_token, created_at)
          values (${tunnel}, 'ada', 'n', ${"3".repeat(64)}, 1)`
        yield* sql`insert into topologies (id, net_uuid, owner, created_at) values (${topology}, ${topology}, 'ada', 1)`
        yield* ask(ada, "/me/account")
        const robot = { headers: { authorization: `Bearer ${yield* serviceAccountOf("ada", "robot")}` } }
        for (const { as = ada, body, byRobot, count, ended, fill, limit, of, path, repeatable } of cases) {
          const add = (n: number) => ask(as, path, body(n))
          const rows = (from: string) =>
            Effect.map(sql.unsafe<{ n: number }>(`select count(*)::int as n from ${from}`), ([row]) => row?.n)
          const counted = rows(count)
          yield* sql.unsafe(`${fill} from generate_series(1, ${limit - 2}) n`)
          assert.strictEqual((yield* add(limit - 1)).status, 200, of)
          if (ended !== undefined) assert.strictEqual(yield* rows(ended.count), ended.most, `${of}: those that ended`)
          const answers = yield* Effect.forEach(
            [0, 1, 2, 3],
            (n) => (n % 2 === 0 ? add(limit + n) : elsewhere(add(limit + n))),
            { concurrency: 4 }
          )
          assert.strictEqual(yield* counted, limit, of)
          const refused = answers.filter(({ status }) => status !== 200)
          assert.strictEqual(refused.length, 3, of)
          for (const { body: problem, status } of refused) {
            assert.deepInclude(problem, { code: "LimitReached", of, limit })
            assert.strictEqual(status, 403)
          }
          if (byRobot !== undefined) {
            const { code, status } = yield* ask(ada, path, byRobot, robot)
            assert.deepStrictEqual([status, code], [403, "LimitReached"], `${of}: a service account of the same person`)
          }
          if (repeatable) assert.strictEqual((yield* add(limit - 1)).status, 200, `${of}: one that is there`)
          assert.strictEqual(yield* counted, limit, of)
        }
      })
    )

    it.effect("has bootstrap tokens of the operator and of accounts leave room for each other", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const filled = (most: number, by: string | null) => sql`
          insert into bootstrap_tokens (token_hash, sealed, created_at, expires_at, minted_by)
          select md5('f' || n) || md5(${by ?? "-"} || n), '\\x00'::bytea, 1, extract(epoch from now())::bigint + 600, ${by} from generate_series(1, ${most}::int) n`
        const mint = (as: typeof ada | "operator") =>
          as === "operator"
            ? ask(as, "/bootstrap/mint", { secret: "s" })
            : ask(as, `/me/channels/${channel}/join-links`, { secret: "s" })
        yield* sql`delete from bootstrap_tokens`
        yield* filled(Quotas.maxBootstrapTokens, "others")
        assert.strictEqual((yield* mint("operator")).status, 200)
        yield* filled(Quotas.maxBootstrapTokens - 1, null)
        assert.strictEqual((yield* mint("operator")).status, 403)
        assert.strictEqual((yield* mint(ada)).status, 200)
      })
    )
  }
)
