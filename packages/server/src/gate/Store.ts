/** The tables of login gates: sign-ins under way, visitors' sessions, requests to be let in, and what a gate asks of a tunnel. */
import { Hostname } from "@catenet/domain/Hostname"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export interface Session {
  readonly tokenHash: string
  readonly host: string
  readonly subject: string | null
  readonly email: string | null
  readonly shareLinkId: string | null
  readonly expiresAt: number
}

export interface SignIn {
  readonly secretHash: string
  readonly host: string
  readonly path: string
  readonly expiresAt: number
}

const Gate = Schema.Struct({ tunnelId: Schema.String, subject: Schema.String, allowAnyLogin: Schema.Boolean })
export type Gate = typeof Gate.Type

/** Requests to be let in that wait for one owner; further ones are not kept. */
const mostRequests = 200

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    transaction: sql.withTransaction,
    /** The gate of a host; nothing when visitors need not log in, or nobody has the host. */
    gateOf: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Gate,
      execute: (host) => sql`
        select id as tunnel_id, subject, allow_any_login from tunnels where hostname = ${host} and require_login`
    }),
    isHost: (host: string) => sql`select 1 from tunnels where hostname = ${host}`,
    isVisitor: (tunnelId: string, names: ReadonlyArray<string>) =>
      sql`select 1 from tunnel_visitors where tunnel_id = ${tunnelId} and ${sql.in("email", names)}`,

    begin: (signIn: SignIn) => sql`insert into gate_sign_ins ${sql.insert({ ...signIn })}`,
    /** Ends a sign-in and says where it was to lead; only one caller gets it. */
    take: SqlSchema.findOneOption({
      Request: Schema.Struct({ secretHash: Schema.String, now: Schema.Int }),
      Result: Schema.Struct({ host: Hostname, path: Schema.String }),
      execute: ({ now, secretHash }) => sql`
        delete from gate_sign_ins where secret_hash = ${secretHash} and expires_at > ${now} returning host, path`
    }),

    open: (session: Session) => sql`insert into gate_sessions ${sql.insert({ ...session })}`,
    /** Puts the sessions of other hosts under another cookie. */
    carry: (from: string, to: string, exceptHost: string) =>
      sql`update gate_sessions set token_hash = ${to} where token_hash = ${from} and host <> ${exceptHost}`,
    /**
     * Whose a session is, while it holds: the link that gave it is not revoked, or the visitor is still allowed. A used
     * up link does not end the session that it gave.
     */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ tokenHash: Schema.String, host: Schema.String, now: Schema.Int }),
      Result: Schema.Struct({
        subject: Schema.NullOr(Schema.String),
        email: Schema.NullOr(Schema.String),
        shareLinkId: Schema.NullOr(Schema.String)
      }),
      execute: ({ host, now, tokenHash }) => sql`
        select s.subject, s.email, s.share_link_id from gate_sessions s
        join tunnels t on t.hostname = s.host
        left join share_links l on l.id = s.share_link_id
        where s.token_hash = ${tokenHash} and s.host = ${host} and s.expires_at > ${now}
          and ((l.id is not null and l.tunnel_id = t.id and not l.revoked)
            or (s.subject is not null and (t.allow_any_login or t.subject = s.subject
              or exists (select 1 from tunnel_visitors v
                where v.tunnel_id = t.id and v.email in (s.email, lower(s.subject))))))`
    }),
    close: (tokenHash: string) => sql`delete from gate_sessions where token_hash = ${tokenHash}`,

    /** Whoever is let in already, has asked before, or comes after too many others leaves nothing. */
    request: (host: string, email: string, note: string, at: number) => sql`
      insert into tunnel_access_requests (tunnel_id, email, note, at)
      select t.id, ${email}, ${note}, ${at}::bigint from tunnels t
      where t.hostname = ${host} and t.require_login
        and not exists (select 1 from tunnel_visitors v where v.tunnel_id = t.id and v.email = ${email})
        and (select count(*) from tunnel_access_requests r where r.tunnel_id = t.id) < ${mostRequests}
      on conflict do nothing`,

    forget: (now: number) =>
      Effect.andThen(
        sql`delete from gate_sessions where expires_at <= ${now}`,
        sql`delete from gate_sign_ins where expires_at <= ${now}`
      )
  }
})
