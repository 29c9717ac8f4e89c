/** An account with 10,000 tunnels, one with ten, and the sessions of both. */
import { createHash } from "node:crypto"

const tunnels = 10_000
const few = 10
/** Session 0 is of the account with 10,000, session 1 of that with ten, and so on by turns. */
export const sessions = 220

export const cookieOf = (session: number): string => `portal-of-${session}`.padEnd(43, "x")

const hash = (text: string) => createHash("sha256").update(text).digest("hex")

const of = (subject: string, prefix: string, count: number): ReadonlyArray<string> => {
  const id = (digits: number) => `'${prefix}' || lpad(to_hex(n), ${digits - 1}, '0')`
  const host = `'a-usual-name-' || '${prefix}' || n || '.example.test'`
  const each = `from generate_series(1, ${count}) n`
  return [
    `insert into tunnels (id, subject, name, hostname, routing_token, created_at, require_login)
      select ${id(32)}, '${subject}', 'a usual name', ${host}, ${id(64)}, n, n % 2 = 0 ${each}`,
    `insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
      select ${host}, ${id(64)}, 'own', n, 'gelb', 'queued', n ${each}`
  ]
}

export const tunnelIdsOf = (session: number): ReadonlyArray<string> =>
  Array.from({ length: few }, (_, n) => (session % 2 === 0 ? "a" : "b") + (n + 1).toString(16).padStart(31, "0"))

const rowOf = (session: number) => {
  const subject = session % 2 === 0 ? "many" : "ten"
  const at = Math.floor(Date.now() / 1_000)
  return `('${hash(cookieOf(session))}', '${subject}', '${subject}@example.test', '', ${at}, ${at}, ${at + 28_800})`
}

export const fill: ReadonlyArray<string> = [
  ...of("many", "a", tunnels),
  ...of("ten", "b", few),
  `insert into portal_sessions (token_hash, subject, email, user_agent, created_at, seen_at, expires_at)
    values ${Array.from({ length: sessions }, (_, session) => rowOf(session)).join(", ")}`
]
