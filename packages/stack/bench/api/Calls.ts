/** What is asked of both servers, and the rows that it is asked about. */
import { request } from "./Pump.ts"
import { adminToken } from "./Surroundings.ts"

/** Accounts, one for each connection of the load. */
export const accounts = 64
/** Tunnels and channels of each account. */
const owned = 10

const hex = (digits: number) => `lpad(to_hex(n), ${digits}, '0')`
const series = `from generate_series(0, ${accounts * owned - 1}) n`
const subject = `'subject-' || (n % ${accounts})`

export const subjectOf = (connection: number): string => `subject-${connection}`

/** Every account has tunnels with hostnames, and channels with three members each. */
export const fill: ReadonlyArray<string> = [
  `insert into tunnels (id, subject, name, hostname, routing_token, created_at)
    select ${hex(32)}, ${subject}, 'n', 'h' || n || '.example.test', ${hex(64)}, n ${series}`,
  `insert into hosts (hostname, routing_token, edge_id, authorized_at, status, claim, queued_at)
    select 'h' || n || '.example.test', ${hex(64)}, 'primary', n, 'gelb', 'queued', n ${series}`,
  `insert into channels select ${hex(64)}, ${subject}, ${hex(64)}, n ${series}`,
  ...[1, 2, 3].map(
    (member) => `insert into channel_members
      select ${hex(64)}, lpad(to_hex(n * 4 + ${member}), 64, '0'), ${hex(64)}, ${hex(128)} ${series}`
  )
]

/** Removes what the writing calls have made. */
export const tidy: ReadonlyArray<string> = [
  `delete from tunnels where name = 'fresh'`,
  `delete from channels where channel like 'f%'`,
  `truncate idempotent_answers`,
  `vacuum tunnels, channels`
]

export interface Call {
  readonly name: string
  /** Whether the token of an account is checked. */
  readonly bearer: boolean
  /** Whether the database is asked. */
  readonly stored: boolean
  readonly writes: boolean
  readonly next: (tokens: ReadonlyArray<string>) => (connection: number) => string
}

const numbered = (n: number, digits: number) => n.toString(16).padStart(digits, "0")
const one = (connection: number) => connection + accounts * 4

let made = 0
const bearer = (tokens: ReadonlyArray<string>, connection: number) => ({
  authorization: `Bearer ${tokens[connection]}`
})

export const calls: ReadonlyArray<Call> = [
  {
    name: "GET /status",
    bearer: false,
    stored: false,
    writes: false,
    next: () => {
      const text = request("GET", "/status", {})
      return () => text
    }
  },
  {
    name: "GET /me/tunnels/:id",
    bearer: true,
    stored: true,
    writes: false,
    next: (tokens) => {
      const texts = tokens.map((_, n) => request("GET", `/me/tunnels/${numbered(one(n), 32)}`, bearer(tokens, n)))
      return (n) => texts[n] ?? ""
    }
  },
  {
    name: `GET /me/tunnels (${owned})`,
    bearer: true,
    stored: true,
    writes: false,
    next: (tokens) => {
      const texts = tokens.map((_, n) => request("GET", "/me/tunnels", bearer(tokens, n)))
      return (n) => texts[n] ?? ""
    }
  },
  {
    name: "GET /me/channels/:channel",
    bearer: true,
    stored: true,
    writes: false,
    next: (tokens) => {
      const texts = tokens.map((_, n) => request("GET", `/me/channels/${numbered(one(n), 64)}`, bearer(tokens, n)))
      return (n) => texts[n] ?? ""
    }
  },
  {
    name: "POST /me/channels",
    bearer: true,
    stored: true,
    writes: true,
    next: (tokens) => (n) => {
      const channel = `f${numbered(++made, 63)}`
      return request("POST", "/me/channels", bearer(tokens, n), { channel, operator_pubkey: "ab".repeat(32) })
    }
  },
  {
    name: "POST /me/tunnels with Idempotency-Key",
    bearer: true,
    stored: true,
    writes: true,
    next: (tokens) => (n) => {
      const headers = { ...bearer(tokens, n), "idempotency-key": `key-${++made}` }
      return request("POST", "/me/tunnels", headers, { name: "fresh" })
    }
  },
  {
    name: "POST /internal/channel/authorize",
    bearer: false,
    stored: true,
    writes: false,
    next: () => {
      const texts = Array.from({ length: accounts }, (_, n) => {
        const body = { channel: numbered(one(n), 64), holder: numbered(one(n) * 4 + 1, 64) }
        return request("POST", "/internal/channel/authorize", { "x-ct-admin-token": adminToken }, body)
      })
      return (n) => texts[n] ?? ""
    }
  }
]
