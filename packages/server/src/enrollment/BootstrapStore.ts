/** Bootstrap tokens by their hash, each with its sealed secret until it is redeemed. */
import { mostBootstrapTokens } from "@catenet/domain/values/Caps"
import { OutstandingBootstrapToken } from "@catenet/domain/enrollment/OutstandingTokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { keysetOn, SliceOfAll } from "../store/Slice.ts"

const Spending = Schema.Struct({ tokenHash: Schema.String, now: Schema.Int })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** No row where there is no room; they are made one after the other. */
    insert: (row: {
      readonly tokenHash: string
      readonly sealed: Uint8Array
      readonly createdAt: number
      readonly expiresAt: number
    }) =>
      Effect.andThen(
        sql`select pg_advisory_xact_lock(23)`,
        sql`insert into bootstrap_tokens (token_hash, sealed, created_at, expires_at)
          select ${row.tokenHash}, ${row.sealed}, ${row.createdAt}::bigint, ${row.expiresAt}::bigint
          where (select count(*) from bootstrap_tokens where redeemed_at is null and expires_at >= ${row.createdAt}::bigint)
            < ${mostBootstrapTokens} returning 1`
      ),
    /** The sealed secret, when this call is the one that spends the token. The row keeps nothing of it. */
    spend: SqlSchema.findOneOption({
      Request: Spending,
      Result: Schema.Struct({ sealed: Schema.Uint8Array, expiresAt: Schema.Int }),
      execute: ({ tokenHash, now }) => sql`
        with held as (
          select token_hash, sealed, expires_at from bootstrap_tokens
          where token_hash = ${tokenHash} and redeemed_at is null for update)
        update bootstrap_tokens t set redeemed_at = ${now}, sealed = null
        from held where t.token_hash = held.token_hash returning held.sealed, held.expires_at`
    }),
    prune: (before: number) =>
      Effect.all([
        sql`delete from bootstrap_tokens where redeemed_at is null and expires_at < ${before}`,
        sql`delete from bootstrap_tokens where redeemed_at < ${before}`
      ]),
    outstanding: SqlSchema.findAll({
      Request: Schema.Struct({ ...SliceOfAll.fields, now: Schema.Int }),
      Result: OutstandingBootstrapToken,
      execute: ({ now, ...slice }) =>
        sql`select token_hash, created_at, expires_at from bootstrap_tokens
          where redeemed_at is null and expires_at > ${now} ${keysetOn(sql)("token_hash", slice)}`.withoutTransform
    }),
    isKnown: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ expiresAt: Schema.Int }),
      execute: (tokenHash) => sql`select expires_at from bootstrap_tokens where token_hash = ${tokenHash}`
    })
  }
})
