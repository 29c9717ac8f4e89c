/**
 * The table of undelivered calls. A row is leased before it is delivered and deleted once acknowledged. A row may be
 * leased only while no earlier row of its queue is left, which keeps the calls about one tunnel in order.
 */
import { Effect, Schema } from "effect"
import { PgTypes } from "@effect/sql-pg"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { RoutingToken } from "@catenet/domain/Tokens"
import { EdgeCall } from "./EdgeCall.ts"

/** Seconds in which a lease is another's business. Far above the time limit of a call. */
const leaseSeconds = 30

const Leased = Schema.Struct({ id: Schema.Int, queue: RoutingToken, call: EdgeCall, attempts: Schema.Int })
export type Leased = typeof Leased.Type

const encodeCall = Schema.encodeSync(EdgeCall)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Rows of one queue get their ids in the order of commit, because the lock is held to the end of the transaction. */
  const insert = SqlSchema.findOne({
    Request: Schema.Struct({
      queue: RoutingToken,
      now: Schema.Int,
      leasedUntil: Schema.Int,
      call: Schema.toType(EdgeCall)
    }),
    Result: Schema.Struct({ id: Schema.Int }),
    execute: ({ queue, now, leasedUntil, call }) =>
      Effect.andThen(
        sql`select pg_advisory_xact_lock(hashtextextended(${queue}, 1))`,
        sql`insert into outbox (queue, call, created_at, due_at, leased_until)
          values (${queue}, ${PgTypes.jsonb(encodeCall(call))}, ${now}, ${now}, ${leasedUntil}) returning id`
      )
  })

  const isFirst = sql`not exists (
    select 1 from outbox earlier where earlier.queue = o.queue and earlier.id < o.id and earlier.refused_at is null)`

  const lease = (now: number, where: Statement.Fragment, limit: number) => sql`
    update outbox set leased_until = ${now + leaseSeconds}, attempts = attempts + 1
    where id in (
      select o.id from outbox o where o.refused_at is null and ${where} and ${isFirst}
      order by o.due_at, o.id limit ${limit} for update skip locked)
    returning id, queue, call, attempts`

  return {
    insert,
    /** The first rows of queues that are due. */
    leaseDue: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, limit: Schema.Int }),
      Result: Leased,
      execute: ({ now, limit }) => lease(now, sql`o.due_at <= ${now} and o.leased_until <= ${now}`, limit)
    }),
    /** The first row of one queue, due or not; `own` are rows whose lease the caller already holds. */
    leaseFirst: SqlSchema.findOneOption({
      Request: Schema.Struct({ now: Schema.Int, queue: RoutingToken, own: Schema.Array(Schema.Int) }),
      Result: Leased,
      execute: ({ now, queue, own }) =>
        lease(now, sql`o.queue = ${queue} and (o.leased_until <= ${now} or o.id = any(${own}::bigint[]))`, 1)
    }),
    /** How many of these rows are still to be delivered. */
    remaining: SqlSchema.findOne({
      Request: Schema.Array(Schema.Int),
      Result: Schema.Struct({ remaining: Schema.Int }),
      execute: (ids) =>
        sql`select count(*) as remaining from outbox where id = any(${ids}::bigint[]) and refused_at is null`
    }),
    acknowledge: (id: number) => sql`delete from outbox where id = ${id}`,
    postpone: (id: number, dueAt: number) =>
      sql`update outbox set due_at = ${dueAt}, leased_until = 0 where id = ${id}`,
    refuse: (id: number, now: number, refusal: string) =>
      sql`update outbox set refused_at = ${now}, refusal = ${refusal} where id = ${id}`,
    notify: sql`select pg_notify('outbox', '')`
  }
})
