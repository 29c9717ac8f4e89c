/**
 * What stands in the databases. The accounts that are asked about have the same rows in both; the crowd is what the full
 * one has besides.
 */
import { createHash } from "node:crypto"
import { accounts } from "../api/Calls.ts"

/** Tunnels of the crowd, and its channels. */
export const tunnels = 100_000
/** Members of channels of the crowd. */
export const members = 1_000_000
/** Topologies of the crowd. */
export const topologies = 10_000

/** Things of each kind that an account has. */
export const owned = 10

export const numbered = (prefix: string, n: number, digits: number): string =>
  prefix + n.toString(16).padStart(digits - 1, "0")

/** What the cookie of an account holds. */
export const cookieOf = (account: number): string => `session-of-${account}`.padEnd(43, "x")

interface Population {
  /** First digit of every id. */
  readonly prefix: string
  /** SQL for the subject of row `n`. */
  readonly subject: string
  readonly email: string
  readonly edge: string
  readonly tunnels: number
  readonly members: number
  readonly topologies: number
}

const own: Population = {
  prefix: "a",
  subject: `'subject-' || (n % ${accounts})`,
  email: `'v' || (n % ${accounts}) || '@example.test'`,
  edge: "'own'",
  tunnels: accounts * owned,
  members: accounts * owned * 10,
  topologies: accounts * owned
}

const crowd: Population = {
  prefix: "c",
  subject: `'crowd-' || (n / 4)`,
  email: `'c' || (n / 4) || '@example.test'`,
  edge: "'other'",
  tunnels,
  members,
  topologies
}

const hour = 3600
const now = () => Math.floor(Date.now() / 1000)

/** SQL for an id of row `n`, or of another number. */
const hexOf =
  (prefix: string) =>
  (digits: number, n = "n") =>
    `'${prefix}' || lpad(to_hex(${n}), ${digits - 1}, '0')`

const membersOf = ({ members, prefix }: Population): string => {
  const hex = hexOf(prefix)
  return `insert into channel_members select ${hex(64, "n / 10")}, ${hex(64)}, ${hex(64)}, ${hex(128)}
    from generate_series(0, ${members - 1}) n`
}

const populate = ({ edge, email, prefix, subject, ...counts }: Population): ReadonlyArray<string> => {
  const hex = hexOf(prefix)
  const series = (count: number) => `from generate_series(0, ${count - 1}) n`
  const each = series(counts.tunnels)
  const topology = `n / 4`
  return [
    `insert into tunnels (id, subject, name, hostname, routing_token, created_at, require_login)
      select ${hex(32)}, ${subject}, 'n', '${prefix}' || n || '.example.test', ${hex(64)}, n, true ${each}`,
    `insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
      select '${prefix}' || n || '.example.test', ${hex(64)}, ${edge}, n, 'gelb', 'queued', n ${each}`,
    `insert into tunnel_grants select ${hex(32)}, 'guest-' || n ${each}`,
    `insert into tunnel_visitors select ${hex(32)}, 'v' || n || '@example.test' ${each}`,
    `insert into tunnel_access_requests select ${hex(32)}, 'w' || n || '@example.test', '', ${now()} ${each}`,
    `insert into badges select ${hex(32)}, ${hex(64)} ${each}`,
    `insert into alerts (tunnel_id, webhook_url, threshold_seconds, secret, state, since, due_at)
      select ${hex(32)}, 'https://hook.example.test/', 60, ${hex(64)}, 'unknown', n, 4000000000 ${each}`,
    `insert into alert_deliveries (message_id, subject, tunnel_id, event, since, threshold_seconds, at, status, detail)
      select '${prefix}' || n, ${subject}, ${hex(32)}, 'tunnel.down', n, 60, ${now()}, 'ok', '' ${each}`,
    `insert into share_links (id, tunnel_id, host, single_use, token_hash, created_at, expires_at)
      select ${hex(32)}, ${hex(32)}, '${prefix}' || n || '.example.test', false, ${hex(64)}, n, ${now() + hour} ${each}`,
    `insert into channels select ${hex(64)}, ${subject}, ${hex(64)}, n ${each}`,
    `insert into channel_grants select ${hex(64)}, ${hex(64, "n * 10")}, rpad('', 278, '0') ${each}`,
    `insert into channel_allowlist select ${hex(64)}, ${email} ${each}`,
    `insert into channel_claims select ${hex(64)}, ${hex(64, "n * 10")}, ${subject} ${each}`,
    `insert into claim_invites select ${hex(64)}, ${hex(64)}, ${hex(64)}, ${hex(64)}, ${hex(128)}, null, ${now() + hour}, null
      ${each}`,
    `insert into room_pairs select ${hex(64)}, ${hex(64)}, ${hex(64, "n + 1")} ${each}`,
    `insert into topologies (id, net_uuid, owner, created_at, operator_pubkey, operator_proof)
      select ${hex(32)}, ${hex(32)}, ${subject}, n, ${hex(64)}, ${hex(128)} ${series(counts.topologies)}`,
    `insert into topology_shares select ${hex(32)}, ${email} ${series(counts.topologies)}`,
    `insert into topology_agents (agent, owner, topology_id, kind)
      select ${hex(64)}, 'o', ${hex(32, topology)}, 'peer' ${series(counts.topologies * 4)}`,
    `insert into topology_edges (topology_id, a, b, link)
      select ${hex(32, topology)}, ${hex(64)}, ${hex(64, "n + 1")}, ${hex(64)} ${series(counts.topologies * 4)}
      where n % 4 < 3`,
    `insert into accounts (account, subject, balance, created_at)
      select distinct on (s) ${hex(64)}, s, 0, n from (select n, ${subject} as s ${each}) of order by s, n`,
    `insert into payment_intents (payment, account, credits, created_at)
      select account, account, 1, ${now()} from accounts where account like '${prefix}%'`,
    `insert into credit_ledger (account, delta, reason, at)
      select account, 1, 'paid', 1 from accounts where account like '${prefix}%'`,
    `insert into credit_issuances (account, price, at)
      select account, 1, 1 from accounts where account like '${prefix}%'`,
    `insert into service_accounts (client_id, owner, name, state, place, internal_id, created_at, due_at)
      select 'sa-' || ${hex(32)}, ${subject}, 'n', 'active', row_number() over (partition by ${subject}), 'i', n, 0 ${each}`,
    `insert into audit_log (actor, action, target, detail, at)
      select ${subject}, 'act', '${prefix}-target-' || n, '', n ${each}`,
    `insert into join_tokens (token_hash, tenant, created_at) select ${hex(64)}, 't', n ${each}`,
    `insert into agents (tenant, agent, tunnel, pubkey, bound_at)
      select ${subject}, '${prefix}' || n, case when n % 2 = 0 then ${hex(32)} else '' end, ${hex(64)}, n ${each}`,
    `insert into portal_sessions select ${hex(64)}, ${subject}, null, null, '', n, ${now()}, ${now() + hour} ${each}`,
    `insert into idempotent_answers (key_hash, request_hash, created_at) select ${hex(64)}, ${hex(64)}, ${now()} ${each}`,
    `insert into directory_agents
      select ${hex(64)}, 'https://a.example.test/', array['${prefix}-role-' || n / 10], array['s'], n ${series(counts.topologies)}`,
    `insert into rendezvous select encode(sha256(decode(${hex(64)}, 'hex')), 'hex'), 't', '${prefix}' || n ${each}`
  ]
}

const sessions = Array.from({ length: accounts }, (_, account) => {
  const hash = createHash("sha256").update(cookieOf(account)).digest("hex")
  const at = now()
  return `('${hash}', 'subject-${account}', 'v${account}@example.test', '', ${at}, ${at}, ${at + 8 * hour})`
})

/** The accounts that are asked about. */
const known: ReadonlyArray<string> = [
  ...populate(own),
  `insert into portal_sessions (token_hash, subject, email, user_agent, created_at, seen_at, expires_at)
    values ${sessions.join(", ")}`,
  `insert into edge_nodes (id, peer_addr, seen_at) values ('own', '127.0.0.1:4433', 4000000000)`,
  `insert into pipelines select 'p' || n, 'subject-' || n, '{"id":"p' || n || '","roles":[{"service":"SafetyCheck","units":1,"tag":"t"}]}', n
    from generate_series(0, ${accounts - 1}) n`,
  `insert into revoked_tokens select 'e' || lpad(to_hex(n), 63, '0'), n from generate_series(0, 9) n`
]

/** The accounts that are asked about, as lists of statements that can run beside each other. */
export const few = [known, [membersOf(own)]]

/** The same, and everybody else. */
export const many = [
  [...known, ...populate(crowd)],
  [membersOf(own), membersOf(crowd)]
]
