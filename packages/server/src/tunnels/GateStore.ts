/** The tables of login gates: sign-ins under way, visitors' sessions, and what a gate asks of a tunnel. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { Sealing } from "../store/Sealing.ts"
import type { Visitor } from "./GateCodeStore.ts"

export interface Session extends Visitor {
  readonly tokenHash: string
  readonly host: string
}

export interface SignIn {
  readonly secretHash: string
  readonly host: string
  readonly path: string
  /** Of the browser that began at the host; null for one that began here. */
  readonly browser: string | null
  readonly expiresAt: number
}

const Gate = Schema.Struct({ tunnelId: Schema.String, subject: Schema.String, allowAnyLogin: Schema.Boolean })
export type Gate = typeof Gate.Type

const Visit = Schema.Struct({
  requireLogin: Schema.Boolean,
  subject: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  shareLinkId: Schema.NullOr(Schema.String),
  signIn: Schema.NullOr(Schema.String),
  expiresAt: Schema.NullOr(Schema.Int)
})

/**
 * The routing token of the tunnel that a host leads to, be it the tunnel's own name or one that was bound to it, or the wildcard that
 * stands for it.
 */
export const leadingTo = (sql: SqlClient.SqlClient) => (host: string | Statement.Fragment) => sql`coalesce(
    (select h.routing_token from hosts h where h.hostname = ${host}),
    (select o.routing_token from tunnels o where o.hostname = ${host}),
    (select h.routing_token from hosts h where h.hostname = regexp_replace(${host}, '^[^.]*', '*')))`

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  const tokenOf = leadingTo(sql)
  return {
    transaction: sql.withTransaction,
    /** The gate of a host; nothing when visitors need not log in, or no tunnel has the host. */
    gateOf: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Gate,
      execute: (host) => sql`
        select id as tunnel_id, subject, allow_any_login from tunnels
        where routing_token = ${tokenOf(host)} and require_login`
    }),
    isHost: (host: string) => sql`select 1 from tunnels where routing_token = ${tokenOf(host)}`,
    leadsTo: (host: string, tunnelId: string) =>
      sql`select 1 from tunnels where id = ${tunnelId} and routing_token = ${tokenOf(host)}`,
    isVisitor: (tunnelId: string, email: string) =>
      sql`select 1 from tunnel_visitors where tunnel_id = ${tunnelId} and email = ${email}`,

    /** The path may carry a secret of the host's. */
    begin: (signIn: SignIn) =>
      sql`insert into gate_sign_ins ${sql.insert({ ...signIn, path: sealing.seal("gate_sign_ins.path", signIn.path) })}`,
    /** Ends a sign-in and says where it was to lead; only one caller gets it. */
    take: SqlSchema.findOneOption({
      Request: Schema.Struct({ secretHash: Schema.String, now: Schema.Int }),
      Result: Schema.Struct({
        host: Hostname,
        path: sealing.column("gate_sign_ins.path", Schema.String),
        browser: Schema.NullOr(Schema.String)
      }),
      execute: ({ now, secretHash }) => sql`
        delete from gate_sign_ins where secret_hash = ${secretHash} and expires_at > ${now} returning host, path, browser`
    }),

    open: (session: Session) => sql`insert into gate_sessions ${sql.insert({ ...session })}`,
    /**
     * Whether visitors of a host have to log in, and whose a session is, while it holds: the link that gave it is not
     * revoked, or the visitor is still allowed. A used up link does not end the session that it gave.
     */
    visit: SqlSchema.findOneOption({
      Request: Schema.Struct({ tokenHash: Schema.String, host: Schema.String, now: Schema.Int }),
      Result: Visit,
      execute: ({ host, now, tokenHash }) => sql`
        select t.require_login, s.subject, s.email, s.share_link_id, s.sign_in, s.expires_at from tunnels t
        left join gate_sessions s on s.token_hash = ${tokenHash} and s.host = ${host} and s.expires_at > ${now}
          and (exists (select 1 from share_links l where l.id = s.share_link_id and l.tunnel_id = t.id and not l.revoked)
            or (s.subject is not null and (t.allow_any_login or t.subject = s.subject
              or exists (select 1 from tunnel_visitors v
                where v.tunnel_id = t.id and v.email = s.email))))
        where t.routing_token = ${tokenOf(host)}`
    }),
    signInOf: SqlSchema.findOneOption({
      Request: Schema.Struct({ tokenHash: Schema.String, host: Schema.NullOr(Schema.String) }),
      Result: Schema.Struct({ signIn: Schema.String }),
      execute: ({ host, tokenHash }) => sql`
        select sign_in from gate_sessions where token_hash = ${tokenHash} ${host === null ? sql`` : sql`and host = ${host}`}`
    }),
    close: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ host: Schema.String }),
      execute: (signIn) => sql`delete from gate_sessions where sign_in = ${signIn} returning host`
    }),
    closeOf: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ host: Schema.String }),
      execute: (subject) => sql`delete from gate_sessions where subject = ${subject} returning host`
    }),

    prune: (now: number) =>
      Effect.andThen(
        sql`delete from gate_sessions where expires_at <= ${now}`,
        sql`delete from gate_sign_ins where expires_at <= ${now}`
      )
  }
})

export class GateStore extends Context.Service<GateStore>()("server/tunnels/GateStore", { make }) {
  static readonly layer = Layer.effect(GateStore, GateStore.make)
}
