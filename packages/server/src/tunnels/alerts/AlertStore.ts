/** The tables of alerts and of their deliveries. A watch is laid out in columns; what a state does not have is null. */
import { AlertEvent } from "@catenet/domain/tunnels/Alert"
import { AlertFormat } from "@catenet/domain/tunnels/AlertFormat"
import type { Watch } from "@catenet/domain/tunnels/Outage"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { AlertSecret, RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as DecryptableFilter from "../../store/DecryptableFilter.ts"
import { Sealing } from "../../store/Sealing.ts"

const watchColumns = {
  state: Schema.Literals(["unknown", "up", "down"]),
  since: UnixSeconds,
  lastSeenUp: Schema.NullOr(UnixSeconds),
  skipped: Schema.NullOr(AlertEvent)
}

const Alert = Schema.Struct({
  tunnelId: TunnelId,
  subject: Schema.String,
  name: Schema.String,
  routingToken: RoutingToken,
  webhookUrl: Schema.String,
  thresholdSeconds: Schema.Int,
  format: AlertFormat,
  receiverToken: Schema.NullOr(Schema.RedactedFromValue(Schema.String)),
  secret: AlertSecret,
  ...watchColumns
})
export type Alert = typeof Alert.Type

/** The state machine's value of a row. */
export const watchOf = ({
  lastSeenUp,
  since,
  skipped,
  state
}: Pick<Alert, "state" | "since" | "lastSeenUp" | "skipped">): Watch => {
  if (state === "up") return { _tag: "Up", since, lastSeenUp: lastSeenUp ?? since, skipped }
  return { _tag: state === "down" ? "Down" : "Unknown", since, skipped }
}

const stateNames = { Unknown: "unknown", Up: "up", Down: "down" } as const

const columnsOf = (watch: Watch) => ({
  state: stateNames[watch._tag],
  since: watch.since,
  lastSeenUp: watch._tag === "Up" ? watch.lastSeenUp : null,
  skipped: watch.skipped
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { column } = yield* Sealing
  const secret = column("alerts.secret", AlertSecret)
  const webhookUrl = column("alerts.webhook_url", Schema.String)
  const receiverToken = Schema.NullOr(column("alerts.receiver_token", Schema.RedactedFromValue(Schema.String)))
  const openable = yield* DecryptableFilter.make
  const Stored = Schema.Struct({ ...Alert.fields, webhookUrl, receiverToken, secret })
  const Settings = Schema.Struct({
    tunnelId: Schema.String,
    webhookUrl,
    thresholdSeconds: Schema.Int,
    format: AlertFormat,
    receiverToken,
    secret,
    now: Schema.Int
  })
  const alert = sql`select a.tunnel_id, t.subject, t.name, t.routing_token, a.webhook_url, a.threshold_seconds, a.format,
    a.receiver_token, a.secret,
    a.state, a.since, a.last_seen_up, a.skipped from alerts a join tunnels t on t.id = a.tunnel_id`

  return {
    find: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Stored,
      execute: (tunnelId) => sql`${alert} where a.tunnel_id = ${tunnelId}`
    }),
    /** The same; no other transaction looks at this alert before this one ends. */
    lock: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Stored,
      execute: (tunnelId) => sql`${alert} where a.tunnel_id = ${tunnelId} for update of a`
    }),
    /** Tells whether the alert is a new one. What was watched so far, the secret, and for the same format the token, stay if it is not. */
    put: SqlSchema.findOne({
      Request: Settings,
      Result: Schema.Struct({ created: Schema.Boolean }),
      execute: ({ now, ...settings }) => sql`
        insert into alerts ${sql.insert({ ...settings, state: "unknown", since: now, dueAt: now })}
        on conflict (tunnel_id) do update set webhook_url = excluded.webhook_url,
          threshold_seconds = excluded.threshold_seconds, format = excluded.format,
          receiver_token = coalesce(excluded.receiver_token,
            case when alerts.format = excluded.format then alerts.receiver_token end)
        returning xmax::text = '0' as created`
    }),
    remove: (tunnelId: string) => sql`delete from alerts where tunnel_id = ${tunnelId} returning tunnel_id`,
    /** Alerts whose look is due and whose secrets this process can open. The same statement puts off their next look. */
    takeDue: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, next: Schema.Int, limit: Schema.Int }),
      Result: Schema.Struct({ tunnelId: TunnelId, routingToken: RoutingToken }),
      execute: ({ limit, next, now }) => sql`
        update alerts a set due_at = ${next} from tunnels t
        where t.id = a.tunnel_id and a.tunnel_id in (
          select tunnel_id from alerts where due_at <= ${now} and ${openable("secret")}
            and ${openable("webhook_url")} and (receiver_token is null or ${openable("receiver_token")}) order by due_at, tunnel_id limit ${limit}
          for update skip locked)
        returning a.tunnel_id, t.routing_token`
    }),
    watch: (tunnelId: string, watch: Watch) =>
      sql`update alerts set ${sql.update(columnsOf(watch))} where tunnel_id = ${tunnelId}`,
    transaction: sql.withTransaction
  }
})

export class AlertStore extends Context.Service<AlertStore>()("server/tunnels/alerts/AlertStore", { make }) {
  static readonly layer = Layer.effect(AlertStore, AlertStore.make)
}
