/**
 * The audit log: who connected to which tunnel or channel, and when (data-plane 11.3). Off unless a path is set; written once a
 * second, deleted after the retention. It contains the hashes of tunnels' tokens, and the channel and public key of members, never
 * contents.
 */
import { plainAddress } from "@catenet/platform/IpAddress"
import { retryForever } from "@catenet/platform/RetryForever"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Clock, Context, Effect, Layer, Schedule, Schema } from "effect"
import type { Socket } from "node:net"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"
import { tunnelName } from "../routes/TunnelName.ts"
import { Settings } from "../settings/Settings.ts"
import * as Database from "../sqlite/SqliteDatabase.ts"

const schemaSql = `
  create table if not exists connections (
    ts integer not null,
    transport text not null,
    source_ip text not null,
    tunnel text not null,
    channel_id text not null default '',
    holder_key text not null default ''
  ) strict;
  create index if not exists connections_by_time on connections (ts);
`

const insertSql =
  "insert into connections (ts, transport, source_ip, tunnel, channel_id, holder_key) values (?, ?, ?, ?, ?, ?)"

const Column = Schema.Struct({ name: Schema.String })
const unknown = "unknown"

/** Columns that files of earlier releases do not have. */
const addedColumns = ["channel_id", "holder_key"]

export type AuditedTransport =
  | "front_door_tls"
  | "tcp_fallback"
  | "mux_agent"
  | "tcp_client"
  | "quic_agent"
  | "quic_client"
  | "tcp_port"
  | "udp_port"

/** Source of a connection that is not a socket of this process. */
interface Remote {
  readonly address: string
}

/** How a member of a channel connected. */
export type AuditedLeg = "tls_channel" | "ws_channel" | "quic_channel" | "relay_gate"

/** `ts` in unix seconds. A connection belongs to a tunnel or to a channel; the columns of the other are empty. */
export type AuditRow = readonly [
  ts: number,
  transport: string,
  sourceIp: string,
  tunnel: string,
  channel: string,
  holder: string
]

interface Notes {
  readonly note: (transport: AuditedTransport, socket: Socket | Remote, token: string) => void
  /** A member that was admitted. `address` is undefined behind a proxy. */
  readonly noteMember: (leg: AuditedLeg, address: string | undefined, channel: string, holder: string) => void
}

const sourceOf = (source: Socket | Remote) =>
  "address" in source && typeof source.address === "string"
    ? plainAddress(source.address)
    : (endpointsOf(source as Socket).client?.address ?? unknown)

/** Records connections as rows, which it passes to `append`. */
export const noting = (clock: Clock.Clock, append: (row: AuditRow) => void): Notes => {
  const seconds = () => toUnixSeconds(clock.currentTimeMillisUnsafe())
  return {
    note: (transport, socket, token) => append([seconds(), transport, sourceOf(socket), tunnelName(token), "", ""]),
    noteMember: (leg, address, channel, holder) =>
      append([seconds(), leg, address === undefined ? unknown : plainAddress(address), "", channel, holder])
  }
}

const nothing = { note: () => undefined, noteMember: () => undefined, write: () => undefined }

const keep = Effect.fn("AuditLog.keep")(function* (path: string) {
  const { auditRetentionSeconds } = yield* Settings
  const clock = yield* Clock.Clock
  const db = yield* Database.open(path, schemaSql)
  const columns = db.all(Column, "select name from pragma_table_info('connections')")
  const present = new Set(columns.map(({ name }) => name))
  for (const column of addedColumns.filter((column) => !present.has(column)))
    db.write(() => db.run(`alter table connections add column ${column} text not null default ''`))
  let pending: Array<AuditRow> = []
  const write = Effect.sync(() => {
    const rows = pending
    pending = []
    if (rows.length === 0) return
    db.write(() => {
      for (const row of rows) {
        db.run(insertSql, ...row)
      }
    }, rows.length)
  })
  const forget = Effect.sync(() => {
    const before = toUnixSeconds(clock.currentTimeMillisUnsafe()) - auditRetentionSeconds
    db.write(() => db.run("delete from connections where ts < ?", before))
  })
  const writing = write.pipe(Effect.delay("1 second"), Effect.repeat(Schedule.forever))
  yield* Effect.forkScoped(writing.pipe(retryForever("writing the audit log")))
  const forgetting = forget.pipe(Effect.repeat(Schedule.spaced("1 hour")))
  yield* Effect.forkScoped(forgetting.pipe(retryForever("pruning the audit log")))
  yield* Effect.addFinalizer(() => write)
  const shape: AuditLog["Service"] = {
    ...noting(clock, (row) => void pending.push(row)),
    write: (rows) => void pending.push(...rows)
  }
  return shape
})

export class AuditLog extends Context.Service<
  AuditLog,
  Notes & {
    /** Rows that another process of this edge has recorded. */
    readonly write: (rows: ReadonlyArray<AuditRow>) => void
  }
>()("edge/audit/AuditLog") {
  static readonly make = Effect.flatMap(Settings, ({ auditPath }) =>
    auditPath === undefined ? Effect.succeed(nothing) : keep(auditPath)
  )
  static readonly layer = Layer.effect(this, this.make)
}
