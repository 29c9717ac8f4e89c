/** Accounts, the ledger, and what was bought. */
import { Issuance } from "@catenet/domain/billing/Credits"
import { AccountId } from "@catenet/domain/values/Ids"
import { Count } from "@catenet/domain/values/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const AccountRow = Schema.Struct({ account: AccountId, balance: Count })

const Bought = Schema.Struct({
  account: AccountId,
  nonce: Schema.Uint8Array,
  sealed: Schema.Uint8Array
})

export interface NewIssuance {
  readonly account: AccountId
  readonly price: number
  readonly at: number
  readonly keyHash: string | null
  readonly nonce: Uint8Array | null
  readonly sealed: Uint8Array | null
}

const IssuedRow = Schema.Struct({ id: Schema.Int, ...Issuance.fields })
export type IssuedRow = typeof IssuedRow.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    transaction: sql.withTransaction,
    open: (row: { readonly account: AccountId; readonly subject: string | null; readonly createdAt: number }) =>
      sql`insert into accounts ${sql.insert({ ...row })} on conflict (subject) do nothing`,
    ofSubject: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: AccountRow,
      execute: (subject) => sql`select account, balance from accounts where subject = ${subject}`
    }),
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ account: Schema.String, lock: Schema.Boolean }),
      Result: AccountRow,
      execute: ({ account, lock }) =>
        sql`select account, balance from accounts where account = ${account} ${lock ? sql`for update` : sql``}`
    }),
    /** One line of the ledger; the database moves the balance with it. */
    enter: (row: { readonly account: string; readonly delta: number; readonly reason: string; readonly at: number }) =>
      sql`insert into credit_ledger ${sql.insert({ ...row })}`,

    boughtWith: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Bought,
      execute: (keyHash) => sql`select account, nonce, sealed from credit_issuances where key_hash = ${keyHash}`
    }),
    insertIssuance: (row: NewIssuance) => sql`insert into credit_issuances ${sql.insert({ ...row })}`,
    issuancesOf: SqlSchema.findAll({
      Request: Schema.Struct({
        account: Schema.String,
        after: Schema.UndefinedOr(Schema.Int),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: IssuedRow,
      execute: ({ account, after, limit }) => sql`select id, price, at from credit_issuances where account = ${account}
        ${after === undefined ? sql`` : sql`and id > ${after}`}
        order by id ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    })
  }
})
