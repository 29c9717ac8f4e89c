/**
 * The log of deliveries, which is also the queue of those that are still to be made and the account's budget. A pending
 * row is leased by who delivers it, and taken over when that one died.
 */
import { AlertDelivery, AlertEvent } from "@catenet/domain/tunnels/Alert"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { AlertSecret } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as DecryptableFilter from "../../store/DecryptableFilter.ts"
import { Sealing } from "../../store/Sealing.ts"

/** Seconds in which a delivery with all its attempts is over: three times five, and the pauses of two and eight. */
const leaseSeconds = 60

export interface Row {
  readonly messageId: string
  readonly subject: string
  readonly tunnelId: string
  readonly event: AlertEvent
  readonly since: number
  readonly thresholdSeconds: number
  readonly at: UnixSeconds
  readonly status: "pending" | "failed" | "skipped"
  readonly detail: string
}

const Pending = Schema.Struct({
  messageId: Schema.String,
  tunnelId: TunnelId,
  event: AlertEvent,
  since: Schema.Int,
  thresholdSeconds: Schema.Int,
  at: UnixSeconds,
  name: Schema.NullOr(Schema.String),
  webhookUrl: Schema.NullOr(Schema.String),
  secret: Schema.NullOr(AlertSecret)
})
export type Pending = typeof Pending.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { column } = yield* Sealing
  const secret = column("alerts.secret", AlertSecret)
  const webhookUrl = column("alerts.webhook_url", Schema.String)
  const openable = yield* DecryptableFilter.make
  return {
    /** Deliveries of an account are counted one after the other, until the transaction ends. */
    lockAccount: (subject: string) => sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 15))`,
    /** When the account's deliveries of the last hour were, oldest first. */
    spent: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, since: Schema.Int }),
      Result: Schema.Struct({ at: Schema.Int }),
      execute: ({ since, subject }) => sql`
        select at from alert_deliveries where subject = ${subject} and at > ${since} and status <> 'skipped' order by at`
    }),
    insert: (row: Row) => sql`insert into alert_deliveries ${sql.insert({ ...row })}`,
    /** Pending deliveries that are leased to no replica and whose secrets this process can open, with what their alert says now; without an alert there is nothing to send. */
    lease: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, limit: Schema.Int }),
      Result: Schema.Struct({
        ...Pending.fields,
        webhookUrl: Schema.NullOr(webhookUrl),
        secret: Schema.NullOr(secret)
      }),
      execute: ({ limit, now }) => sql`
        with leased as (
          update alert_deliveries set leased_until = ${now + leaseSeconds} where id in (
            select id from alert_deliveries d where status = 'pending' and leased_until <= ${now}
              and not exists (select 1 from alerts a where a.tunnel_id = d.tunnel_id
                and not (${openable("a.secret")} and ${openable("a.webhook_url")}))
            order by leased_until, id limit ${limit} for update skip locked)
          returning message_id, tunnel_id, event, since, threshold_seconds, at)
        select l.*, t.name, a.webhook_url, a.secret from leased l
        left join tunnels t on t.id = l.tunnel_id left join alerts a on a.tunnel_id = l.tunnel_id`
    }),
    settle: (messageId: string, status: "ok" | "failed", detail: string) =>
      sql`update alert_deliveries set ${sql.update({ status, detail })} where message_id = ${messageId}`,
    /** Newest first. */
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        tunnelId: Schema.String,
        after: Schema.UndefinedOr(Schema.Int),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Schema.Struct({ id: Schema.Int, ...AlertDelivery.fields }),
      execute: ({ after, limit, tunnelId }) => sql`
        select id, at, event, status, detail from alert_deliveries
        where tunnel_id = ${tunnelId} and status <> 'pending' ${after === undefined ? sql`` : sql`and id < ${after}`}
        order by id desc ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    prune: (before: number) => sql`delete from alert_deliveries where at < ${before} and status <> 'pending'`
  }
})
