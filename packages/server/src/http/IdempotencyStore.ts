/** Answers that are given again: the row is claimed before the command runs and completed with it. */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Answer = Schema.Struct({ nonce: Schema.Uint8Array, sealed: Schema.Uint8Array })
const Stored = Schema.Struct({ requestHash: Schema.String, ...Answer.fields })

/** A sealed answer. */
export interface Sealed {
  readonly nonce: Uint8Array
  readonly sealed: Uint8Array
}

/** A whole row: the key, what was asked with it, and the answer. */
export interface Kept extends Sealed {
  /** Hash of whose key it is; a caller keeps `maxAnswersPerCaller`. */
  readonly caller: string
  readonly keyHash: string
  readonly requestHash: string
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** A row, when the key was free. A request that races for it waits here until the first one has committed or given up. */
    claim: (row: Omit<Kept, keyof Sealed> & { readonly createdAt: number }) =>
      sql`insert into idempotent_answers ${sql.insert({ ...row })} on conflict (key_hash) do nothing returning key_hash`,
    complete: (keyHash: string, { nonce, sealed }: Sealed) =>
      sql`update idempotent_answers set nonce = ${nonce}, sealed = ${sealed} where key_hash = ${keyHash}`,
    find: SqlSchema.findOne({
      Request: Schema.String,
      Result: Stored,
      execute: (keyHash) => sql`select request_hash, nonce, sealed from idempotent_answers where key_hash = ${keyHash}`
    }),
    /** The answer, or nulls while the command runs; none where there is no claim. */
    answer: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Union([Answer, Schema.Struct({ sealed: Schema.Null, createdAt: Schema.Int })]),
      execute: (keyHash) => sql`select nonce, sealed, created_at from idempotent_answers where key_hash = ${keyHash}`
    }),
    /** Gives up the claim of a command that changed nothing. */
    release: (keyHash: string) => sql`delete from idempotent_answers where key_hash = ${keyHash} and sealed is null`,
    prune: (before: number) => sql`delete from idempotent_answers where created_at < ${before}`,
    transaction: sql.withTransaction
  }
})
