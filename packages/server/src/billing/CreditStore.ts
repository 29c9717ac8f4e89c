/** Accounts, the ledger, and what was bought. */
import { type CreditEffect, Issuance } from "@catenet/domain/billing/Credits"
import { AccountId } from "@catenet/domain/values/Ids"
import { Count } from "@catenet/domain/values/Numbers"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"

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

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const find = SqlSchema.findOneOption({
    Request: Schema.Struct({ account: Schema.String, lock: Schema.Boolean }),
    Result: AccountRow,
    execute: ({ account, lock }) =>
      sql`select account, balance from accounts where account = ${account} ${lock ? sql`for update` : sql``}`
  })
  return {
    transaction: sql.withTransaction,
    open: (row: { readonly account: AccountId; readonly subject: string | null; readonly createdAt: number }) =>
      sql`insert into accounts ${sql.insert({ ...row })} on conflict (subject) do nothing`,
    ofSubject: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: AccountRow,
      execute: (subject) => sql`select account, balance from accounts where subject = ${subject}`
    }),
    find: (account: string) => find({ account, lock: false }),
    /** The account with its balance, which nothing else moves until the transaction ends; null when it is unknown. */
    held: (account: AccountId) => Effect.map(find({ account, lock: true }), Option.getOrNull),
    /** Writes a line of the ledger; the database moves the balance with it. */
    enter: ({ account, delta, reason }: Extract<CreditEffect, { _tag: "Entry" }>) =>
      Effect.flatMap(unixSeconds, (at) => sql`insert into credit_ledger ${sql.insert({ account, delta, reason, at })}`),

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

export class CreditStore extends Context.Service<CreditStore>()("server/billing/CreditStore", { make }) {
  static readonly layer = Layer.effect(CreditStore, CreditStore.make)
}
