/** The tunnels of an account, with what is remembered of the agents behind them. */
import { ChannelId } from "@catenet/domain/channels/Channel"
import { BridgeMode, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export const After = Schema.Struct({ createdAt: Schema.Int, id: TunnelId })

const Owned = Schema.Struct({
  id: TunnelId,
  name: TunnelName,
  hostname: Schema.NullOr(Hostname),
  routingToken: RoutingToken,
  createdAt: Schema.Int,
  bridgeMode: BridgeMode,
  channel: Schema.NullOr(ChannelId),
  agentVersion: Schema.NullOr(Schema.String),
  readiness: Schema.NullOr(Schema.Record(Schema.String, Schema.Json)),
  probedAt: Schema.NullOr(UnixSeconds)
})
export type Owned = typeof Owned.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    tokens: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, ids: Schema.Array(Schema.String) }),
      Result: Schema.Struct({ id: TunnelId, routingToken: RoutingToken, hostname: Schema.NullOr(Schema.String) }),
      execute: ({ ids, subject }) =>
        ids.length === 0
          ? sql`select null::text as id, null::text as routing_token, null::text as hostname where false`
          : sql`select id, routing_token, hostname from tunnels where subject = ${subject} and ${sql.in("id", ids)}`
    }),
    /** Oldest first; only those that the account owns. */
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        subject: Schema.String,
        after: Schema.UndefinedOr(After),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Owned,
      execute: ({ after, limit, subject }) => sql`
        select t.id, t.name, t.hostname, t.routing_token, t.created_at, t.bridge_mode, b.channel,
          coalesce(t.agent_version, b.agent_version) as agent_version, b.readiness, b.probed_at
        from tunnels t left join bridges b on b.tunnel_id = t.id where t.subject = ${subject}
        ${after === undefined ? sql`` : sql`and (t.created_at, t.id) > (${after.createdAt}, ${after.id})`}
        order by t.created_at, t.id ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    })
  }
})
