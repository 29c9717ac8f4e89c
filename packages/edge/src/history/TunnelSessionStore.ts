/**
 * The session store (data-plane 11.1): one row per unbroken streak of a tunnel being served, named by the hash of its
 * token. Times are unix seconds; `bytes_in` is what visitors sent.
 */
import type { SessionEnd } from "@catenet/domain/tunnels/TunnelTraffic"
import { type Session, uptime, uptimeWindows } from "@catenet/domain/tunnels/Uptime"
import { Schema } from "effect"
import type { Database } from "../sqlite/SqliteDatabase.ts"
import * as DailyTrafficStore from "./DailyTrafficStore.ts"

const Row = Schema.Struct({
  transport: Schema.String,
  connected_at: Schema.Int,
  disconnected_at: Schema.NullOr(Schema.Int),
  reason: Schema.NullOr(Schema.String),
  bytes_in: Schema.Int,
  bytes_out: Schema.Int
})

const Open = Schema.Struct({
  tunnel: Schema.String,
  connected_at: Schema.Int,
  bytes_in: Schema.Int,
  bytes_out: Schema.Int,
  last_flush: Schema.Int
})

const Span = Schema.Struct({ connected_at: Schema.Int, disconnected_at: Schema.NullOr(Schema.Int) })
const First = Schema.Struct({ at: Schema.NullOr(Schema.Int) })

/** Percent of each window, or of the tunnel's lifetime if that is shorter. A new tunnel has 0 or 100, by its current state. */
const shares = (spans: ReadonlyArray<Session>, first: number | null, now: number, open: boolean) => {
  const share = (window: number) => uptime(spans, first, window, now) ?? (open ? 100 : 0)
  return { h24: share(uptimeWindows.h24), d7: share(uptimeWindows.d7), d30: share(uptimeWindows.d30) }
}

/** Number of silences listed individually. */
const maxSilences = 200

const firstOf = (db: Database, tunnel: string) =>
  db.all(First, "select min(connected_at) as at from sessions where tunnel = ?", tunnel)[0]?.at ?? null

/** Both carriers are `tcp-fallback` in the contract; `carrier` has the finer name. */
export const transportOf = (carrier: string): string => (carrier === "mux" ? "tcp-fallback" : carrier)

const shown = ({ transport: kept, ...row }: typeof Row.Type) => ({
  transport: transportOf(kept),
  carrier: kept === "tcp-fallback" ? "slots" : kept,
  ...row
})

export const make = (db: Database, days: DailyTrafficStore.DailyTrafficStore) => ({
  open: (tunnel: string, transport: string, now: number) =>
    db.run(
      "insert into sessions (tunnel, transport, connected_at, last_flush) values (?, ?, ?, ?)",
      tunnel,
      transport,
      now,
      now
    ),
  /** Stores the bytes of the open session so far. */
  flush: (tunnel: string, bytesIn: number, bytesOut: number, now: number) =>
    db.run(
      "update sessions set bytes_in = ?, bytes_out = ?, last_flush = ? where tunnel = ? and disconnected_at is null",
      bytesIn,
      bytesOut,
      now,
      tunnel
    ),
  /** The open session continues on another carrier, whose name is stored. */
  carry: (tunnel: string, transport: string) =>
    db.run("update sessions set transport = ? where tunnel = ? and disconnected_at is null", transport, tunnel),
  close: (tunnel: string, reason: SessionEnd, at: number) =>
    db.run(
      "update sessions set disconnected_at = ?, reason = ? where tunnel = ? and disconnected_at is null",
      at,
      reason,
      tunnel
    ),
  /** Sessions that an earlier process left open. */
  leftOpen: () =>
    db.all(
      Open,
      "select tunnel, connected_at, bytes_in, bytes_out, last_flush from sessions where disconnected_at is null"
    ),
  prune: (before: number) => db.run("delete from sessions where disconnected_at < ?", before),
  sums: (tunnel: string, now: number) => days.sums(tunnel, firstOf(db, tunnel), now),
  history: (tunnel: string, limit: number, now: number, figures = false) => {
    const sessions = db.all(
      Row,
      `select transport, connected_at, disconnected_at, reason, bytes_in, bytes_out from sessions
       where tunnel = ? order by connected_at desc, id desc limit ?`,
      tunnel,
      limit
    )
    const spans = db.all(
      Span,
      `select connected_at, disconnected_at from sessions
       where tunnel = ? and (disconnected_at is null or disconnected_at > ?)`,
      tunnel,
      now - uptimeWindows.d30
    )
    const first = firstOf(db, tunnel)
    const open = spans.some(({ disconnected_at }) => disconnected_at === null)
    const silences = days.silences(tunnel, now)
    const served = DailyTrafficStore.servedOf(spans, silences, now)
    return {
      open,
      uptime: shares(served, first, now, open),
      sessions: sessions.map(shown),
      ...(silences.length === 0 ? {} : { silences: silences.slice(-maxSilences).toReversed() }),
      ...(figures ? { figures: days.figures(tunnel, served, first, now) } : {})
    }
  }
})

export type TunnelSessionStore = ReturnType<typeof make>
