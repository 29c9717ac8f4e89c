/** The table of visitors' sessions at login gates, and what a gate asks of a tunnel. */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export interface Row {
  readonly tokenHash: string
  readonly host: string
  readonly email: string | null
  readonly shareLinkId: string | null
  readonly expiresAt: number
}

const Gate = Schema.Struct({ tunnelId: Schema.String, subject: Schema.String, allowAnyLogin: Schema.Boolean })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    insert: (row: Row) => sql`insert into gate_sessions ${sql.insert({ ...row })}`,
    /** The gate of a host; nothing when visitors need not log in, or nobody has the host. */
    gateOf: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Gate,
      execute: (host) => sql`
        select id as tunnel_id, subject, allow_any_login from tunnels where hostname = ${host} and require_login`
    }),
    /**
     * Whose a session is, while it holds: the link that gave it is not revoked, or the visitor is still allowed. A used
     * up link does not end the session that it gave.
     */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ tokenHash: Schema.String, host: Schema.String, now: Schema.Int }),
      Result: Schema.Struct({ email: Schema.NullOr(Schema.String), shareLinkId: Schema.NullOr(Schema.String) }),
      execute: ({ host, now, tokenHash }) => sql`
        select s.email, s.share_link_id from gate_sessions s
        join tunnels t on t.hostname = s.host
        left join share_links l on l.id = s.share_link_id
        where s.token_hash = ${tokenHash} and s.host = ${host} and s.expires_at > ${now}
          and ((l.id is not null and l.tunnel_id = t.id and not l.revoked)
            or (s.email is not null and (t.allow_any_login
              or exists (select 1 from tunnel_visitors v where v.tunnel_id = t.id and v.email = s.email))))`
    }),
    isVisitor: (tunnelId: string, name: string) =>
      sql`select 1 from tunnel_visitors where tunnel_id = ${tunnelId} and email = ${name}`,
    forget: (now: number) => sql`delete from gate_sessions where expires_at <= ${now}`
  }
})
