/** The edge's database as a service; undefined if the history is disabled. */
import { Context, Effect, Layer, Path } from "effect"
import { Settings } from "../settings/Settings.ts"
import * as Database from "./SqliteDatabase.ts"

/** Tunnels are named by the hash of their token; times are unix seconds. */
const schemaSql = `
  create table if not exists sessions (
    id integer primary key,
    tunnel text not null,
    transport text not null,
    connected_at integer not null,
    disconnected_at integer,
    reason text,
    bytes_in integer not null default 0,
    bytes_out integer not null default 0,
    last_flush integer not null
  ) strict;
  create index if not exists sessions_by_tunnel on sessions (tunnel, connected_at desc);
  create unique index if not exists sessions_open on sessions (tunnel) where disconnected_at is null;
  create table if not exists receipts (
    tunnel text not null,
    seq integer not null,
    ts integer not null,
    hash text not null,
    line text not null,
    primary key (tunnel, seq)
  ) strict, without rowid;
  create table if not exists unnamed_tunnels (
    tunnel text not null unique,
    served integer not null default 0
  ) strict;
  create table if not exists days (
    tunnel text not null,
    day integer not null,
    visitors integer not null default 0,
    bytes_in integer not null default 0,
    bytes_out integer not null default 0,
    primary key (tunnel, day)
  ) strict, without rowid;
  create table if not exists counting (since integer not null) strict;
  create table if not exists silences (
    tunnel text not null,
    began_at integer not null,
    ended_at integer not null,
    primary key (tunnel, began_at)
  ) strict, without rowid;
  create table if not exists agent_keys (
    tunnel text primary key,
    key text not null,
    last_seen integer not null
  ) strict, without rowid;
`

export class HistoryDatabase extends Context.Service<HistoryDatabase, { readonly db: Database.Database | undefined }>()(
  "edge/sqlite/HistoryDatabase"
) {
  static readonly make = Effect.gen(function* () {
    const { certOut, history, historyPath } = yield* Settings
    if (!history) return { db: undefined }
    const path = yield* Path.Path
    return {
      db: yield* Database.open(historyPath ?? path.join(path.dirname(certOut), "tunnel-history.sqlite"), schemaSql)
    }
  })
  static readonly layer = Layer.effect(this, this.make)
}
