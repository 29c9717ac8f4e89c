/** The table of payment intents. */
import { PaymentIntent } from "@catenet/domain/billing/Credits"
import type { AccountId, PaymentId } from "@catenet/domain/values/Ids"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export interface NewIntent {
  readonly payment: PaymentId
  readonly account: AccountId
  readonly credits: number
  readonly createdAt: number
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const intent = sql`select payment, account, credits, confirmed, created_at from payment_intents`
  return {
    transaction: sql.withTransaction,
    insert: (row: NewIntent) => sql`insert into payment_intents ${sql.insert({ ...row })}`,
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ payment: Schema.String, lock: Schema.Boolean }),
      Result: PaymentIntent,
      execute: ({ lock, payment }) =>
        sql`${intent} where payment = ${payment} ${lock ? sql`for update` : sql``}`.withoutTransform
    }),
    confirm: (payment: string) => sql`update payment_intents set confirmed = true where payment = ${payment}`,
    prune: (before: number) => sql`delete from payment_intents where not confirmed and created_at < ${before}`,
    /** Oldest first. */
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        account: Schema.String,
        after: Schema.UndefinedOr(Schema.Struct({ createdAt: Schema.Int, payment: Schema.String })),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: PaymentIntent,
      execute: ({ account, after, limit }) =>
        sql`${intent} where account = ${account}
        ${after === undefined ? sql`` : sql`and (created_at, payment) > (${after.createdAt}, ${after.payment})`}
        order by created_at, payment ${limit === undefined ? sql`` : sql`limit ${limit}`}`.withoutTransform
    })
  }
})
