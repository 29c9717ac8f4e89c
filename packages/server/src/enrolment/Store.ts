/** Join tokens by their hash, and the agents bound by redeeming one. */
import { Effect, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Batch = Schema.Struct({ idempotencyKey: Schema.String, tenant: Schema.String, count: Schema.Int })

const Redemption = Schema.Struct({
  tokenHash: Schema.String,
  agent: Schema.String,
  pubkey: Schema.String,
  now: Schema.Int
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Tokens that a repeated batch derives again are there already. */
    insert: (tenant: string, createdAt: number, tokenHashes: ReadonlyArray<string>) => sql`
      insert into join_tokens (token_hash, tenant, created_at)
      select token_hash, ${tenant}, ${createdAt} from unnest(${tokenHashes}::text[]) token_hash
      on conflict (token_hash) do nothing`,
    /** The batch that has this key, which is the given one when the key is fresh. */
    claimBatch: SqlSchema.findOne({
      Request: Batch,
      Result: Batch.mapFields(Struct.pick(["tenant", "count"])),
      execute: (batch) => sql`
        insert into join_batches ${sql.insert(batch)}
        on conflict (idempotency_key) do update set idempotency_key = excluded.idempotency_key
        returning tenant, count`
    }),
    /** The tenant, when this call is the one that spends the token. Racing calls wait here for each other. */
    spend: SqlSchema.findOneOption({
      Request: Redemption,
      Result: Schema.Struct({ tenant: Schema.String }),
      execute: ({ tokenHash, agent, now }) => sql`
        update join_tokens set redeemed_at = ${now}, redeemed_by = ${agent}
        where token_hash = ${tokenHash} and redeemed_at is null returning tenant`
    }),
    isKnown: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ tenant: Schema.String }),
      execute: (tokenHash) => sql`select tenant from join_tokens where token_hash = ${tokenHash}`
    }),
    bind: (tenant: string, row: typeof Redemption.Type) => sql`
      insert into agents (tenant, agent, pubkey, bound_at) values (${tenant}, ${row.agent}, ${row.pubkey}, ${row.now})
      on conflict (tenant, agent) do update set pubkey = excluded.pubkey, bound_at = excluded.bound_at`,
    transaction: sql.withTransaction
  }
})
