/**
 * Orders that an edge refused for good. They are kept until an operator resends one or a later order replaces it; the
 * routing tokens that name their queues are not shown.
 */
import { RefusedOrderUnknown } from "@catenet/domain/edges/EdgeErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

const RefusedOrder = Schema.Struct({
  id: Schema.Int,
  edge: Schema.String,
  kind: Schema.String,
  hostname: Schema.NullOr(Schema.String),
  /** None where the tunnel is gone. */
  tunnel: Schema.NullOr(Schema.String),
  refusedAt: Schema.Int,
  refusal: Schema.String
})
export type RefusedOrder = typeof RefusedOrder.Type

const Resent = Schema.Struct({ edge: Schema.String, kind: Schema.String, tunnel: Schema.NullOr(Schema.String) })

export class RefusedOrders extends Context.Service<
  RefusedOrders,
  {
    /** The newest, at most `limit`. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<RefusedOrder>>
    /** Puts an order back into its queue. It is delivered as every other, and may be refused again. */
    readonly resend: (actor: string, id: number) => Effect.Effect<void, RefusedOrderUnknown>
  }
>()("server/edges/RefusedOrders") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const audits = yield* Audits

    const list = SqlSchema.findAll({
      Request: Schema.Int,
      Result: RefusedOrder,
      execute: (limit) => sql`
        select o.id, o.edge, o.call ->> '_tag' as kind, o.call ->> 'hostname' as hostname, t.id as tunnel,
          o.refused_at, o.refusal
        from outbox o left join tunnels t on t.routing_token = o.queue
        where o.refused_at is not null order by o.id desc limit ${limit}`
    })

    const back = SqlSchema.findAll({
      Request: Schema.Struct({ id: Schema.Int, now: Schema.Int }),
      Result: Resent,
      execute: ({ id, now }) => sql`
        with resent as (
          update outbox set refused_at = null, refusal = null, due_at = ${now}, leased_until = 0
          where id = ${id} and refused_at is not null returning queue, edge, call)
        select r.edge, r.call ->> '_tag' as kind, t.id as tunnel from resent r
        left join tunnels t on t.routing_token = r.queue`
    })

    return {
      list: (limit: number) => Effect.orDie(list(limit)),
      resend: Effect.fn("RefusedOrders.resend")(
        function* (actor: string, id: number) {
          const [resent] = yield* back({ id, now: yield* unixSeconds })
          if (resent === undefined) return yield* new RefusedOrderUnknown()
          const { edge, kind, tunnel } = resent
          yield* audits.append(audit("edge_order_resent", actor, tunnel ?? edge, `${kind} to ${edge}`))
          yield* sql`select pg_notify('outbox', '')`
        },
        sql.withTransaction,
        sqlOrDie
      )
    }
  })

  static readonly layer = Layer.effect(RefusedOrders, RefusedOrders.make).pipe(Layer.provide(Audits.layer))
}
