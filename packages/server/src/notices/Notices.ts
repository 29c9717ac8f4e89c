/**
 * What an account should know now: requests for access to its tunnels, memberships to claim, grants about to end, names
 * without a certificate, tunnels that are down. Nothing is stored here: a notice lasts as long as its cause.
 */
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Ids"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"

/** Seconds before its end from which on a grant is said to end: seven days. */
const grantSeconds = 7 * 86_400
/** Seconds for which a tunnel without an alert is down before it is said: an agent that starts anew is back by then. */
const outageSeconds = 300
/** Notices that are shown and counted; who has more reads these first. */
export const maxNotices = 200

const Notice = Schema.Struct({
  kind: Schema.Literals(["access", "claim", "grant", "certificate", "down"]),
  /** The id of the tunnel or of the channel. */
  about: Schema.String,
  /** The tunnel's name, the host name, or the channel's id. */
  name: Schema.String,
  /** Who asks, whose grant it is, or the authority that gave no certificate. */
  who: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String),
  at: Schema.NullOr(Schema.Int)
})
export type Notice = typeof Notice.Type

const Reader = Schema.Struct({
  subject: Schema.String,
  email: Schema.NullOr(Schema.String),
  soon: Schema.Int,
  outSince: Schema.Int
})

export interface Account {
  readonly subject: Subject
  readonly email: Email | null
}

export class Notices extends Context.Service<
  Notices,
  {
    readonly list: (account: Account) => Effect.Effect<ReadonlyArray<Notice>>
    readonly count: (account: Account) => Effect.Effect<number>
  }
>()("server/notices/Notices") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const all = ({ email, outSince, soon, subject }: typeof Reader.Type) => sql`
      select 'access' as kind, t.id as about, t.name, r.email as who, r.note, r.at
        from tunnel_access_requests r join tunnels t on t.id = r.tunnel_id where t.subject = ${subject}
      union all select 'claim', a.channel, a.channel, null, null, null from channel_allowlist a
        where a.email = ${email}::text and not exists (
          select 1 from channel_claims l where l.channel = a.channel and l.subject = ${subject})
      union all select 'grant', g.channel, g.channel, g.holder, null, g.expires_at from channel_grants g
        where g.expires_at < ${soon}
          and (exists (select 1 from channels c where c.channel = g.channel and c.owner = ${subject})
            or exists (select 1 from channel_claims l
              where l.channel = g.channel and l.holder = g.holder and l.subject = ${subject}))
      union all select 'certificate', t.id, h.hostname, null, null, h.retry_at
        from hosts h join tunnels t on t.routing_token = h.routing_token
        where h.claim = 'lapsed' and t.subject = ${subject}
      union all select 'certificate', t.id, f.hostname, f.ca, coalesce(f.detail, f.reason), f.retry_at
        from issuance_failures f join hosts h on h.hostname = f.hostname
          join tunnels t on t.routing_token = h.routing_token
        where t.subject = ${subject} and not exists (
          select 1 from issuance_failures n where n.hostname = f.hostname and (n.at > f.at or (n.at = f.at and n.ca < f.ca)))
      union all select 'down', t.id, t.name, null, null, a.since
        from alerts a join tunnels t on t.id = a.tunnel_id where a.state = 'down' and t.subject = ${subject}
      union all select 'down', t.id, t.name, null, null, w.since
        from tunnel_watches w join tunnels t on t.id = w.tunnel_id
        where not w.is_up and w.since <= ${outSince} and t.subject = ${subject}
          and not exists (select 1 from alerts a where a.tunnel_id = t.id)`

    const list = SqlSchema.findAll({
      Request: Reader,
      Result: Notice,
      execute: (reader) => sql`
        select * from (${all(reader)}) as notice
        order by case kind when 'down' then 0 when 'certificate' then 1 when 'grant' then 2 when 'access' then 3 else 4 end,
          at desc nulls last, about, who limit ${maxNotices}`
    })
    const count = SqlSchema.findOne({
      Request: Reader,
      Result: Schema.Struct({ notices: Schema.Int }),
      execute: (reader) => sql`
        select count(*) as notices from (select 1 from (${all(reader)}) as notice limit ${maxNotices}) as counted`
    })
    const asked = ({ email, subject }: Account) =>
      Effect.map(unixSeconds, (now) => ({
        subject,
        email,
        soon: now + grantSeconds,
        outSince: now - outageSeconds
      }))

    return {
      list: (account: Account) => Effect.orDie(Effect.flatMap(asked(account), list)),
      count: (account: Account) =>
        Effect.orDie(Effect.map(Effect.flatMap(asked(account), count), ({ notices }) => notices))
    }
  })

  static readonly layer = Layer.effect(Notices, Notices.make)
}
