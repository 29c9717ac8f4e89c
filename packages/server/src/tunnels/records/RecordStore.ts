/** The tunnels of an account with stored facts about their agents, and the figures made from what edges report. */
import { ChannelId } from "@catenet/domain/channels/Channel"
import { BridgeMode, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import type { TunnelDay, TunnelHistory, UptimeShares } from "@catenet/domain/tunnels/TunnelTraffic"
import { longestOutage, totals, uptimeWindows } from "@catenet/domain/tunnels/Uptime"
import { UptimeReport } from "@catenet/domain/tunnels/Usage"
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { History } from "../../edges/EdgeFacts.ts"

// The figures of a tunnel from what the edge knows of it. Pure; an edge that is silent gives no figure at all.

/** Most sessions that an edge tells, and a page shows. */
export const maxSessions = 200

const count = (sum: bigint) => Number(sum > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : sum)

/** Uptime as the edge has it; null without a history, or for a tunnel that was never served. */
export const shares = (known: History): UptimeShares | null =>
  known._tag === "Known" && known.history.sessions.length > 0 ? known.history.uptime : null

const nothing = {
  uptime_30d_pct: null,
  sessions_30d: null,
  bytes_in_30d: null,
  bytes_out_30d: null,
  visitors_30d: null
}

/**
 * What passed in 30 days; all null when the edge has nothing to tell. An edge of before tells no sums: of that one the sessions it
 * gave are added up.
 */
export const usage = (known: History, now: number) => {
  if (known._tag !== "Known") return nothing
  const { figures, sessions: given } = known.history
  const sums = figures ?? { ...totals(given, uptimeWindows.d30, now), visitors: null }
  return {
    uptime_30d_pct: shares(known)?.d30 ?? null,
    sessions_30d: sums.sessions,
    bytes_in_30d: count(BigInt(sums.bytes_in)),
    bytes_out_30d: count(BigInt(sums.bytes_out)),
    visitors_30d: sums.visitors
  }
}

const longest = ({ figures, sessions }: TunnelHistory, now: number) => {
  if (sessions.length === 0) return null
  return figures?.longest_outage_secs ?? longestOutage(sessions.slice(0, maxSessions), uptimeWindows.d30, now)
}

/** Thirty days; none of an edge that does not tell them. */
export const days = (known: History): ReadonlyArray<TunnelDay> =>
  known._tag === "Known" ? (known.history.figures?.days ?? []) : []

export const report = (known: History, now: number): UptimeReport => {
  const { bytes_in_30d, bytes_out_30d, sessions_30d, visitors_30d } = usage(known, now)
  const isKnown = known._tag === "Known"
  return new UptimeReport({
    edge_silent: known._tag === "Silent",
    silent_edges: known.silent,
    open: isKnown ? known.history.open : null,
    uptime: shares(known),
    longest_outage_30d_secs: isKnown ? longest(known.history, now) : null,
    sessions_30d,
    bytes_in_30d,
    bytes_out_30d,
    visitors_30d,
    days: days(known),
    sessions: isKnown ? known.history.sessions.slice(0, maxSessions) : []
  })
}

export const After = Schema.Struct({ createdAt: Schema.Int, id: TunnelId })

const Owned = Schema.Struct({
  id: TunnelId,
  name: TunnelName,
  hostname: Schema.NullOr(TunnelHostname),
  routingToken: RoutingToken,
  createdAt: Schema.Int,
  bridgeMode: BridgeMode,
  channel: Schema.NullOr(ChannelId),
  agentVersion: Schema.NullOr(Schema.String),
  readiness: Schema.NullOr(Schema.Record(Schema.String, Schema.Json)),
  probedAt: Schema.NullOr(UnixSeconds)
})
export type Owned = typeof Owned.Type

const make = Effect.gen(function* () {
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

export class RecordStore extends Context.Service<RecordStore>()("server/tunnels/records/RecordStore", { make }) {
  static readonly layer = Layer.effect(RecordStore, RecordStore.make)
}
