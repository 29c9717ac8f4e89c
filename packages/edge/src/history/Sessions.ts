/**
 * The session store (data-plane 11.1): one row per unbroken streak of a tunnel being served, named by the hash of its
 * token. Times are unix seconds; `bytes_in` is what visitors sent.
 */
import { Schema } from "effect"
import type { Database } from "./Database.ts"
import { shares } from "./Uptime.ts"

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

const Spans = Schema.Struct({ from: Schema.Int, until: Schema.NullOr(Schema.Int) })

export type EndReason = "registration-closed" | "revoked" | "edge-restart"

const DAYS_30 = 30 * 86_400

export const make = (db: Database) => ({
  open: (tunnel: string, transport: string, now: number) =>
    db.run(
      "insert into sessions (tunnel, transport, connected_at, last_flush) values (?, ?, ?, ?)",
      tunnel,
      transport,
      now,
      now
    ),
  /** Notes the bytes of the open session so far. */
  flush: (tunnel: string, bytesIn: number, bytesOut: number, now: number) =>
    db.run(
      "update sessions set bytes_in = ?, bytes_out = ?, last_flush = ? where tunnel = ? and disconnected_at is null",
      bytesIn,
      bytesOut,
      now,
      tunnel
    ),
  close: (tunnel: string, reason: EndReason, at: number) =>
    db.run(
      "update sessions set disconnected_at = ?, reason = ? where tunnel = ? and disconnected_at is null",
      at,
      reason,
      tunnel
    ),
  /** Sessions that a process before this one left open. */
  leftOpen: () =>
    db.all(
      Open,
      "select tunnel, connected_at, bytes_in, bytes_out, last_flush from sessions where disconnected_at is null"
    ),
  prune: (before: number) => db.run("delete from sessions where disconnected_at < ?", before),
  history: (tunnel: string, limit: number, now: number) => {
    const sessions = db.all(
      Row,
      `select transport, connected_at, disconnected_at, reason, bytes_in, bytes_out from sessions
       where tunnel = ? order by connected_at desc, id desc limit ?`,
      tunnel,
      limit
    )
    const spans = db.all(
      Spans,
      `select connected_at as "from", disconnected_at as "until" from sessions
       where tunnel = ? and (disconnected_at is null or disconnected_at > ?)`,
      tunnel,
      now - DAYS_30
    )
    return { open: spans.some(({ until }) => until === null), uptime: shares(spans, now), sessions }
  }
})

export type Sessions = ReturnType<typeof make>
