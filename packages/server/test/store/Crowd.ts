/**
 * A database that is full of what belongs to others: so many rows in every table that grows with its users. Account
 * `subject-77` has four of most things, numbered 308 to 311. Nothing of it is over, so that no sweep takes it away.
 */
import { native } from "@catenet/crypto/native"
import * as SealedText from "@catenet/crypto/SealedText"
import type { Place } from "../../src/store/Sealing.ts"

const each = (condition: string, command: string) => `do $$ declare c record; begin
  for c in select conrelid::regclass as place, conname as name from pg_constraint
    where connamespace = 'public'::regnamespace and conrelid <> 0 and ${condition}
  loop execute format('${command}', c.place, c.name); end loop; end $$`

/** Tables whose rows write others, or are asked about others. */
const triggered = ["account_events", "credit_ledger", "issuance_failures", "tunnel_access_requests", "tunnel_watches"]

/**
 * What is asked of each row costs more than all the rest. What a value looks like has no part in any plan; what a row
 * refers to comes back.
 */
const before = [
  `create table held as select conrelid::regclass::text as place, conname as name, pg_get_constraintdef(oid) as said
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  each("contype in ('c', 'f')", "alter table %s drop constraint %I"),
  ...triggered.map((table) => `alter table ${table} disable trigger user`)
]
const after = [
  `do $$ declare c held; begin for c in select * from held
    loop execute format('alter table %s add constraint %I %s not valid', c.place, c.name, c.said); end loop; end $$`,
  ...triggered.map((table) => `alter table ${table} enable trigger user`),
  "drop table held",
  "vacuum analyze"
]

const hex = (digits: number) => `lpad(to_hex(n), ${digits}, '0')`
const subject = `'subject-' || (n / 4)`
const email = `'e' || n || '@example.test'`
const host = `'h' || n || '.d' || (n % 5000) || '.example.test'`
const later = 4_000_000_000
/** Not long ago, so that nothing has grown old; each row at another time. */
const recent = `extract(epoch from now())::bigint - n % 1000`

const key = SealedText.keyOf(native, new Uint8Array(32).fill(0x5e))
/** As the servers under test seal it, so that no start seals every row anew. */
const sealed = (place: Place, text: string) => `'${SealedText.seal(native, key, place, text)}'`

const rows: Readonly<Record<string, string>> = {
  tunnels: `(id, subject, name, hostname, routing_token, created_at, require_login)
    select ${hex(32)}, ${subject}, 'n', ${host}, ${hex(64)}, n, true`,
  hosts: `(hostname, routing_token, edge_id, authorized_at, status, claim, queued_at, ca, deadline, retry_at, pending_revert)
    select ${host}, ${hex(64)}, 'edge-' || n / 1000, n,
      case when n % 1000 = 0 then 'gelb' else 'gruen' end, case when n % 1000 = 0 then 'queued' end,
      case when n % 1000 = 0 then n end, null, null, null, false`,
  issuance_failures: `(hostname, ca, reason, at, retry_at) select ${host}, 'ca', 'caa', ${recent}, ${later}`,
  hostname_claims: `(tunnel_id, hostname, provisioned) select ${hex(32)}, ${host}, true`,
  tunnel_grants: `select ${hex(32)}, 'subject-' || n`,
  tunnel_policies: `(tunnel_id, revision) select ${hex(32)}, n`,
  tunnel_visitors: `select ${hex(32)}, ${email}`,
  tunnel_access_requests: `select ${hex(32)}, ${email}, '', ${recent}`,
  agent_presence: `select ${hex(64)}, 'edge-' || n / 1000`,
  revoked_tokens: `(routing_token, revoked_at) select md5('r' || n) || md5('s' || n), ${recent}`,
  issuances: `(ca, domain, hostname, at) select 'ca', 'd' || (n % 5000) || '.example.test', ${host}, ${recent}`,
  outbox: `(queue, edge, call, created_at, due_at) select ${hex(64)}, 'primary', '{"_tag":"Revoke"}', n, ${later} + n`,
  join_tokens: `(token_hash, tenant, created_at) select ${hex(64)}, 't' || n % 1000, ${recent}`,
  join_batches: `select 'key ' || n, 't', 1`,
  agents: `(tenant, agent, tunnel, pubkey, bound_at)
    select ${subject}, 'a' || n, case when n % 2 = 0 then ${hex(32)} else '' end, ${hex(64)}, n`,
  bootstrap_tokens: `(token_hash, sealed, created_at, expires_at) select ${hex(64)}, '\\x00', n, ${later}`,
  platform_accounts: `(directory, key) select 'https://ca-' || n, ${sealed("platform_accounts.key", "k")}`,
  platform_certificates: `(host, revision, chain, key, issued_at, ends_at, due_at)
    select 'p' || n || '.d' || (n % 5000) || '.example.test', n, 'c', ${sealed("platform_certificates.key", "k")},
      ${recent}, ${later} + n, ${later} + n`,
  platform_certificate_edges: `select 'edge-' || n, n, n`,
  portal_sessions: `select ${hex(64)}, ${subject}, null, null, '', ${recent}, ${recent}, ${later} + n`,
  ticket_keys: `(from_at, key) select ${later} + n, ${sealed("ticket_keys.key", "0".repeat(96))}`,
  portal_sign_ins: `select ${hex(64)}, ${sealed("portal_sign_ins.next", "/portal")}, ${later} + n`,
  account_events: `(subject, at, kind, action, about, name)
    select ${subject}, ${recent}, 'outage', 'tunnel_up', ${hex(32)}, ${host}`,
  audit_log: `(actor, action, target, detail, at)
    select ${subject}, 'act-' || (n % 1000), 'target-' || n, '', ${recent}`,
  idempotent_answers: `(key_hash, request_hash, created_at) select ${hex(64)}, ${hex(64)}, ${recent}`,
  request_counts: `select 'key ' || n, ${later}, 1`,
  account_limits: `select 'limited-' || n, 9, 9`,
  channels: `select ${hex(64)}, ${subject}, ${hex(64)}, n`,
  channel_members: `select ${hex(64)}, ${hex(64)}, ${hex(64)}, ${hex(128)}`,
  channel_grants: `select ${hex(64)}, ${hex(64)}, ${sealed("channel_grants.grant_hex", "0".repeat(278))}`,
  channel_allowlist: `(channel, email) select ${hex(64)}, ${email}`,
  channel_claims: `select ${hex(64)}, ${hex(64)}, ${subject}`,
  claim_invites: `select ${hex(64)}, ${hex(64)}, ${hex(64)}, ${hex(64)}, ${hex(128)}, null, ${later} + n, null`,
  room_pairs: `select ${hex(64)}, ${hex(64)}, ${hex(64)}`,
  invitation_challenges: `select ${hex(64)}, ${later} + n`,
  invitation_redemptions: `select ${hex(128)}, ${later} + n`,
  pipelines: `select 'p' || n, ${subject}, '{"id":"p","roles":[{"service":"TextGeneration","units":1,"tag":"t"}]}', n`,
  directory_agents: `select ${hex(64)}, 'https://a.example', array['role-' || (n / 4)], array['skill-' || (n / 4)], n`,
  rendezvous: `select ${hex(64)}, 't', 'a'`,
  accounts: `(account, subject, balance, created_at) select ${hex(64)}, 'subject-' || n, 0, n`,
  credit_ledger: `(account, delta, reason, at) select ${hex(64)}, 9, 'paid', n`,
  payment_intents: `(payment, account, credits, created_at) select ${hex(64)}, ${hex(64)}, 1, ${recent}`,
  credit_issuances: `(account, price, at) select ${hex(64)}, 1, n`,
  service_accounts: `(client_id, owner, name, state, place, internal_id, created_at, due_at)
    select 'sa-' || ${hex(32)}, ${subject}, 'n', 'active', n % 4 + 1, 'i', n, 0`,
  service_account_makers: `select 'robot-' || n, ${subject}, 'sa-' || ${hex(32)}`,
  topologies: `(id, net_uuid, owner, created_at, operator_pubkey, operator_proof)
    select ${hex(32)}, ${hex(32)}, ${subject}, n, ${hex(64)}, ${hex(128)}`,
  topology_shares: `select ${hex(32)}, ${email}`,
  topology_agents: `(agent, owner, topology_id, kind) select ${hex(64)}, ${subject}, ${hex(32)}, 'peer'`,
  topology_noise_keys: `select ${hex(64)}, ${hex(64)}, ${hex(64)}, ${hex(128)}`,
  topology_edges: `(topology_id, a, b, link)
    select ${hex(32)}, ${hex(64)}, lpad(to_hex(n + 1), 64, '0'), ${hex(64)}`,
  tunnel_watches: `select ${hex(32)}, n % 1000 <> 0, ${recent}`,
  mail_accounts: `select 'subject-' || n, true, 'en', ${later} + n`,
  notice_mails: `(id, subject, state, created_at, due_at, unsubscribe_hash)
    select ${hex(32)}, 'subject-' || n, case when n % 1000 = 0 then 'pending' else 'sent' end, ${recent}, ${later} + n, ${hex(64)}`,
  mailed_notices: `select 'subject-' || n, 'down', ${hex(32)}, '', ${hex(32)}`,
  alerts: `(tunnel_id, webhook_url, threshold_seconds, secret, state, since, due_at)
    select ${hex(32)}, ${sealed("alerts.webhook_url", "https://a.example")}, 60, ${sealed("alerts.secret", "0".repeat(64))}, 'unknown', n, ${later} + n`,
  alert_deliveries: `(message_id, subject, tunnel_id, event, since, threshold_seconds, at, status, detail)
    select 'm' || n, ${subject}, ${hex(32)}, 'tunnel.down', n, 60, ${recent}, 'ok', ''`,
  badges: `select ${hex(32)}, ${hex(64)}`,
  share_links: `(id, tunnel_id, host, label, single_use, token_hash, created_at, expires_at)
    select ${hex(32)}, ${hex(32)}, ${host}, null, false, ${hex(64)}, n, ${later} + n`,
  gate_sessions: `(token_hash, host, subject, share_link_id, expires_at)
    select ${hex(64)}, ${host}, case when n % 2 = 0 then ${subject} end, case when n % 2 = 1 then ${hex(32)} end, ${later} + n`,
  account_emails: `select 'subject-' || n, ${email}`,
  gate_codes: `(code_hash, browser, host, path, subject, share_link_id, sign_in, session_expires_at, expires_at)
    select ${hex(64)}, ${hex(64)}, ${host}, ${sealed("gate_codes.path", "/")}, case when n % 2 = 0 then ${subject} end,
      case when n % 2 = 1 then ${hex(32)} end, 's' || n, ${later} + n, ${later} + n`,
  gate_sign_ins: `(secret_hash, host, path, expires_at)
    select ${hex(64)}, ${host}, ${sealed("gate_sign_ins.path", "/")}, ${later} + n`,
  bridges: `(tunnel_id, channel, grant_hex)
    select ${hex(32)}, ${hex(64)}, ${sealed("bridges.grant_hex", "0".repeat(278))}`,
  address_records: `(hostname, wanted, published, due_at) select ${host}, true, '', ${later} + n`
}

/** A few that are in the middle of something, so that every sweep has its rows among many. */
const busy = (count: number): ReadonlyArray<string> => [
  `update hosts set claim = 'offered', ca = 'ca', queued_at = null, deadline = ${later} where hostname = 'h3000.d3000.example.test'`,
  `update hosts set claim = 'lapsed', queued_at = null, retry_at = ${later} where hostname = 'h4000.d4000.example.test'`,
  `update hosts set pending_revert = true where hostname = 'h5551.d551.example.test'`,
  `update outbox set refused_at = 1, refusal = 'it did' where id % ${Math.floor(count / 100)} = 0`,
  `update payment_intents set confirmed = true where created_at % 100 = 0`
]

/** The tables that are filled. */
export const tables: ReadonlyArray<string> = Object.keys(rows)

/** Statements that fill them with so many rows each: one list after the other, those of a list in any order. */
export const statements = (count: number): ReadonlyArray<ReadonlyArray<string>> => [
  ...before.map((statement) => [statement]),
  Object.entries(rows).map(([table, values]) => `insert into ${table} ${values} from generate_series(1, ${count}) n`),
  ...[...busy(count), ...after].map((statement) => [statement])
]
