/** Bootstrap tokens by their hash, each with its sealed secret as long as that may still be given out. */
import { OutstandingBootstrapToken } from "@catenet/domain/enrollment/OutstandingTokens"
import { PublicKey } from "@catenet/domain/values/Keys"
import { maxBootstrapTokens, maxBootstrapTokensPerAccount } from "@catenet/domain/values/Quotas"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { keysetOn, PageOfAll } from "../store/KeysetPage.ts"

const Held = Schema.Struct({
  /** Null where the secret is not given out any more. */
  sealed: Schema.NullOr(Schema.Uint8Array),
  expiresAt: Schema.Int,
  redeemedBy: Schema.NullOr(PublicKey)
})
export type Held = typeof Held.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** No row where there is no room; they are made one after the other. */
    insert: (row: {
      readonly tokenHash: string
      readonly sealed: Uint8Array
      readonly createdAt: number
      readonly expiresAt: number
      /** The account that has minted it; null for the operator. */
      readonly mintedBy: string | null
    }) =>
      Effect.andThen(
        sql`select pg_advisory_xact_lock(23)`,
        sql`insert into bootstrap_tokens (token_hash, sealed, created_at, expires_at, minted_by)
          select ${row.tokenHash}, ${row.sealed}, ${row.createdAt}::bigint, ${row.expiresAt}::bigint, ${row.mintedBy}
          where (select count(*) from bootstrap_tokens where redeemed_at is null and expires_at >= ${row.createdAt}::bigint)
            < ${maxBootstrapTokens}
          and (select count(*) from bootstrap_tokens where minted_by = ${row.mintedBy} and redeemed_at is null
            and expires_at >= ${row.createdAt}::bigint) < ${maxBootstrapTokensPerAccount} returning 1`
      ),
    /** The row, held until the transaction ends: racing attempts wait here for each other. */
    hold: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Held,
      execute: (tokenHash) => sql`
        select sealed, expires_at, redeemed_by from bootstrap_tokens
        where token_hash = ${tokenHash} for update`
    }),
    /** The sealed secret stays for the key `by`; without one the row keeps nothing of it. */
    spend: ({ by, now, tokenHash }: { readonly tokenHash: string; readonly now: number; readonly by: string | null }) =>
      sql`update bootstrap_tokens set redeemed_at = ${now}, redeemed_by = ${by},
        sealed = case when ${by}::text is null then null else sealed end where token_hash = ${tokenHash}`,
    prune: ({ before, now }: { readonly before: number; readonly now: number }) =>
      Effect.all([
        sql`update bootstrap_tokens set sealed = null
          where redeemed_at is not null and sealed is not null and expires_at < ${now}`,
        sql`delete from bootstrap_tokens where redeemed_at is null and expires_at < ${before}`,
        sql`delete from bootstrap_tokens where redeemed_at < ${before}`
      ]),
    outstanding: SqlSchema.findAll({
      Request: Schema.Struct({ ...PageOfAll.fields, now: Schema.Int }),
      Result: OutstandingBootstrapToken,
      execute: ({ now, ...slice }) =>
        sql`select token_hash, created_at, expires_at from bootstrap_tokens
          where redeemed_at is null and expires_at > ${now} ${keysetOn(sql)("token_hash", slice)}`.withoutTransform
    }),
    transaction: sql.withTransaction
  }
})
