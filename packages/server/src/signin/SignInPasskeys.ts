/** Passkeys of the platform's own identity provider: public keys, and how often each was used. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"

/** Passkeys of one user. */
const maxPasskeysPerAccount = 50

export interface Passkey {
  readonly id: string
  readonly userId: string
  readonly publicKey: string
  readonly algorithm: number
  readonly counter: number
  readonly at: number
  readonly usedAt?: number
}

interface Row extends Omit<Passkey, "usedAt"> {
  readonly usedAt: number | null
}

const passkeyOf = ({ usedAt, ...row }: Row): Passkey => ({ ...row, ...(usedAt === null ? {} : { usedAt }) })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const run = Effect.runPromiseWith(yield* Effect.context())
  const columns = sql`id, user_id, public_key, algorithm, counter, at, used_at`
  return {
    byId: (id: string) =>
      run(
        Effect.map(sql<Row>`select ${columns} from sign_in_passkeys where id = ${id}`, (rows) => rows.map(passkeyOf)[0])
      ),
    ofUser: (userId: string) =>
      run(
        Effect.map(
          sql<Row>`select ${columns} from sign_in_passkeys where user_id = ${userId} order by at, id`,
          (rows) => rows.map(passkeyOf)
        )
      ),
    /** False where the id is taken, or the user has as many as one may have. */
    add: ({ algorithm, at, counter, id, publicKey, userId }: Passkey) =>
      run(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`select 1 from sign_in_users where id = ${userId} for update`
            const rows = yield* sql`
              insert into sign_in_passkeys (id, user_id, public_key, algorithm, counter, at)
              select ${id}, ${userId}, ${publicKey}, ${algorithm}::integer, ${counter}::bigint, ${at}::bigint
              where (select count(*) from sign_in_passkeys where user_id = ${userId}) < ${maxPasskeysPerAccount}
              on conflict do nothing returning 1`
            return rows.length > 0
          })
        )
      ),
    /** False where another use was there before. */
    use: (id: string, before: number, counter: number) =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          const rows = yield* sql`update sign_in_passkeys set counter = ${counter}, used_at = ${now}
            where id = ${id} and counter = ${before} returning 1`
          return rows.length > 0
        })
      ),
    remove: (userId: string, id: string) =>
      run(Effect.asVoid(sql`delete from sign_in_passkeys where user_id = ${userId} and id = ${id}`))
  }
})
