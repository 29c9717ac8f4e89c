/** What an operator allows an account, and everything that ends with an account. */
import { ChannelId } from "@catenet/domain/channels/Channel"
import { Subject } from "@catenet/domain/values/Subject"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Limited = Schema.Struct({
  subject: Subject,
  email: Schema.NullOr(Schema.String),
  maxTunnels: Schema.NullOr(Schema.Int),
  maxChannels: Schema.NullOr(Schema.Int),
  tunnels: Schema.Int
})
/** An account that has a limit of its own, and how many tunnels it has. */
export type LimitedAccount = typeof Limited.Type

const Limits = Schema.Struct({ maxTunnels: Schema.NullOr(Schema.Int), maxChannels: Schema.NullOr(Schema.Int) })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    transaction: sql.withTransaction,
    /** Whether anything here belongs to the subject. */
    isKnown: (subject: string) => sql`
      select 1 where exists (select 1 from accounts where subject = ${subject})
        or exists (select 1 from tunnels where subject = ${subject})
        or exists (select 1 from channels where owner = ${subject})
        or exists (select 1 from portal_sessions where subject = ${subject})
        or exists (select 1 from account_limits where subject = ${subject})`,
    limits: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Limits,
      execute: (subject) => sql`select max_tunnels, max_channels from account_limits where subject = ${subject}`
    }),
    setMaxTunnels: (subject: string, maxTunnels: number) =>
      sql`insert into account_limits ${sql.insert({ subject, maxTunnels })}
        on conflict (subject) do update set max_tunnels = excluded.max_tunnels
        where account_limits.max_tunnels is distinct from excluded.max_tunnels returning 1`,
    setMaxChannels: (subject: string, maxChannels: number) =>
      sql`insert into account_limits ${sql.insert({ subject, maxChannels })}
        on conflict (subject) do update set max_channels = excluded.max_channels
        where account_limits.max_channels is distinct from excluded.max_channels returning 1`,
    limited: SqlSchema.findAll({
      Request: Schema.Int,
      Result: Limited,
      execute: (limit) => sql`
        select l.subject, e.email, l.max_tunnels, l.max_channels,
          (select count(*) from tunnels t where t.subject = l.subject) as tunnels
        from account_limits l left join account_emails e on e.subject = l.subject
        order by l.subject limit ${limit}`
    }),

    /** Before everything else that the account has: the commands that count its tunnels take this lock first, too. */
    hold: (subject: string) => sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 2))`,
    /** Holds the tunnels of an account: a token that is being replaced is the new one afterwards. */
    holdTunnels: (subject: string) => sql`select 1 from tunnels where subject = ${subject} order by id for update`,
    /** Removes the tunnels of an account and says which tokens are worthless now. */
    dropTunnels: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, now: Schema.Int }),
      Result: Schema.Struct({ routingToken: RoutingToken }),
      execute: ({ now, subject }) => sql`
        with gone as (delete from tunnels where subject = ${subject} returning routing_token),
          unbound as (delete from hosts using gone where hosts.routing_token = gone.routing_token),
          revoked as (insert into revoked_tokens (routing_token, revoked_at) select routing_token, ${now} from gone
            on conflict do nothing)
        select routing_token from gone`
    }),
    /** Removes the account from the visitor lists of tunnels, and returns these tunnels. */
    dropFromLists: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ tunnelId: Schema.String }),
      execute: (email) => sql`delete from tunnel_visitors where email = ${email} returning tunnel_id`
    }),
    channels: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ channel: ChannelId }),
      execute: (subject) => sql`select channel from channels where owner = ${subject} order by channel`
    }),
    dropBelongings: (subject: string, email: string | null) =>
      Effect.all([
        sql`delete from channels where owner = ${subject}`,
        sql`delete from channel_claims where subject = ${subject}`,
        sql`delete from pipelines where owner = ${subject}`,
        sql`delete from directory_agents where subject = ${subject}`,
        sql`delete from portal_sessions where subject = ${subject}`,
        sql`delete from mail_accounts where subject = ${subject}`,
        sql`delete from bootstrap_tokens where minted_by = ${subject}`,
        ...(email === null
          ? []
          : [
              sql`delete from channel_allowlist where email = ${email}`,
              sql`delete from tunnel_access_requests where email = ${email}`
            ])
      ])
  }
})
