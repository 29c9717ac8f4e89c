/**
 * Checks all tunnels in rounds for those that visitors no longer reach. A replica that takes a round asks each edge
 * about many tunnels at once and writes only changes, so notices need no question and most rounds write nothing. A
 * silent edge changes nothing.
 */
import { isServed } from "@catenet/domain/tunnels/Reachability"
import { TunnelId } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { EdgeFacts, reachOf } from "../../edges/EdgeFacts.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"

/** What the rounds over all tunnels left behind. Only a change is written. */
const Watched = Schema.Struct({
  id: TunnelId,
  routingToken: RoutingToken,
  /** Null: it was never reached. */
  isUp: Schema.NullOr(Schema.Boolean)
})
type Watched = typeof Watched.Type

const Change = Schema.Struct({ ids: Schema.Array(Schema.String), now: Schema.Int })

const makeTunnelWatchStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Gives the round that is due to the one who asks first. */
    takeRound: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, next: Schema.Int }),
      Result: Schema.Struct({ dueAt: Schema.Int }),
      execute: ({ next, now }) =>
        sql`update tunnel_watch_round set due_at = ${next} where due_at <= ${now} returning due_at`
    }),
    page: SqlSchema.findAll({
      Request: Schema.Struct({ after: Schema.String, limit: Schema.Int }),
      Result: Watched,
      execute: ({ after, limit }) => sql`
        select t.id, t.routing_token, (select w.is_up from tunnel_watches w where w.tunnel_id = t.id)
        from tunnels t where t.id > ${after} order by t.id limit ${limit}`
    }),
    /** A tunnel that is deleted meanwhile is left out. */
    up: SqlSchema.void({
      Request: Change,
      execute: ({ ids, now }) => sql`
        insert into tunnel_watches (tunnel_id, is_up, since)
        select id, true, ${now} from tunnels where id = any(${ids}::text[]) order by id for key share
        on conflict (tunnel_id) do update set is_up = true, since = excluded.since where not tunnel_watches.is_up`
    }),
    down: SqlSchema.void({
      Request: Change,
      execute: ({ ids, now }) => sql`
        update tunnel_watches set is_up = false, since = ${now} where is_up and tunnel_id = any(${ids}::text[])`
    })
  }
})

/** Tunnels of one question to an edge. */
const perQuestion = 500

export class TunnelWatches extends Context.Service<
  TunnelWatches,
  {
    /** Makes the round, if one is due and there is an edge to ask. */
    readonly lookAround: Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/tunnels/alerts/TunnelWatches") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeTunnelWatchStore
    const edge = yield* EdgeFacts
    const { alertIntervalSeconds } = yield* Settings

    const lookAt = Effect.fnUntraced(function* (tunnels: ReadonlyArray<Watched>) {
      const statuses = yield* edge.statuses(tunnels.map(({ routingToken }) => routingToken))
      const reports = new Map(
        Option.getOrElse(statuses.known, () => []).map((report) => [Redacted.value(report.token), report])
      )
      const up: Array<string> = []
      const down: Array<string> = []
      for (const { id, isUp, routingToken } of tunnels) {
        const report = reports.get(Redacted.value(routingToken))
        // An edge from before the echo says only whether an agent is connected.
        const served =
          (report?.reach === undefined && report?.connected === true) || isServed(reachOf(statuses, report))
        if (served === true && isUp !== true) up.push(id)
        if (served === false && isUp === true) down.push(id)
      }
      const now = yield* unixSeconds
      if (up.length > 0) yield* store.up({ ids: up, now })
      if (down.length > 0) yield* store.down({ ids: down, now })
    })

    const round = Effect.fn("TunnelWatches.round")(function* () {
      for (let after = ""; ;) {
        const tunnels = yield* store.page({ after, limit: perQuestion })
        const last = tunnels.at(-1)
        if (last === undefined) return
        yield* lookAt(tunnels)
        after = last.id
      }
    })

    return {
      lookAround: Effect.gen(function* () {
        if (!(yield* edge.askable)) return
        const now = yield* unixSeconds
        const taken = yield* store.takeRound({ now, next: now + alertIntervalSeconds })
        if (taken.length > 0) yield* round()
      })
    }
  })

  static readonly layer = Layer.effect(TunnelWatches, TunnelWatches.make).pipe(Layer.provide([EdgeFacts.layer]))
}
