/**
 * Who connected to what, for operators who must be able to answer that (data-plane 11.3). Off unless a path is set;
 * written once a second, forgotten after the retention. Tunnels appear by the hash of their token, contents never.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import type { Socket } from "node:net"
import { endpointsOf } from "../listen/Endpoints.ts"
import { tunnelName } from "../routes/TunnelName.ts"
import { Settings } from "../settings/Settings.ts"
import * as Database from "../sqlite/SqliteDatabase.ts"

const schemaSql = `
  create table if not exists connections (
    ts integer not null,
    transport text not null,
    source_ip text not null,
    tunnel text not null
  ) strict;
  create index if not exists connections_by_time on connections (ts);
`

export type AuditedTransport = "front_door_tls" | "tcp_fallback" | "mux_agent" | "tcp_client"

export type AuditRow = readonly [ts: number, transport: string, sourceIp: string, tunnel: string]

/** What is written down of a connection; `ts` in unix seconds. */
export const row = (ts: number, transport: AuditedTransport, socket: Socket, token: string): AuditRow => [
  ts,
  transport,
  endpointsOf(socket).client?.address ?? "unknown",
  tunnelName(token)
]

const keep = Effect.fn("AuditLog.keep")(function* (path: string) {
  const { auditRetentionSeconds } = yield* Settings
  const clock = yield* Clock.Clock
  const db = yield* Database.open(path, schemaSql)
  const seconds = () => Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
  let pending: Array<AuditRow> = []
  const write = Effect.sync(() => {
    const rows = pending
    pending = []
    if (rows.length === 0) return
    db.write(() => {
      for (const row of rows) {
        db.run("insert into connections (ts, transport, source_ip, tunnel) values (?, ?, ?, ?)", ...row)
      }
    }, rows.length)
  })
  const forget = Effect.sync(() => {
    const before = seconds() - auditRetentionSeconds
    db.write(() => db.run("delete from connections where ts < ?", before))
  })
  yield* Effect.forkScoped(write.pipe(Effect.delay("1 second"), Effect.repeat(Schedule.forever)))
  yield* Effect.forkScoped(forget.pipe(Effect.repeat(Schedule.spaced("1 hour"))))
  yield* Effect.addFinalizer(() => write)
  const shape: AuditLog["Service"] = {
    note: (transport, socket, token) => void pending.push(row(seconds(), transport, socket, token)),
    write: (rows) => void pending.push(...rows)
  }
  return shape
})

export class AuditLog extends Context.Service<
  AuditLog,
  {
    readonly note: (transport: AuditedTransport, socket: Socket, token: string) => void
    /** Rows that another process of this edge has noted. */
    readonly write: (rows: ReadonlyArray<AuditRow>) => void
  }
>()("edge/audit/AuditLog") {
  static readonly make = Effect.flatMap(Settings, ({ auditPath }) =>
    auditPath === undefined ? Effect.succeed({ note: () => undefined, write: () => undefined }) : keep(auditPath)
  )
  static readonly layer = Layer.effect(this, this.make)
}
