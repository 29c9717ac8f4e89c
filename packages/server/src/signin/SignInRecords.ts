/**
 * The records of the platform's own identity provider: sessions, grants, codes and tokens. A record is found by a hash of
 * its id, which is a bearer secret, and its content is sealed: a copy of the database signs nobody in.
 */
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { sha256Hex } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"

export type Payload = Record<string, unknown>

/** How a record is found, beside its id. */
export interface Names {
  readonly uid?: string | undefined
  readonly userCode?: string | undefined
  readonly grantId?: string | undefined
  readonly accountId?: string | undefined
}

interface Row {
  readonly payload: string
  readonly consumedAt: number | null
}

const place = "sign_in_records.payload"

/** A user code is short, so that a plain hash of it could be tried out. */
const codePlace = "sign_in_records.user_code"

const hashed = (text: string | undefined) => (text === undefined ? null : sha256Hex(text))

const dependencies = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  return { run: Effect.runPromiseWith(yield* Effect.context()), sealing, sql }
})

export const make = Effect.map(dependencies, ({ run, sealing, sql }) => {
  const opened = ({ consumedAt, payload }: Row): Payload | undefined => {
    const text = Result.getOrUndefined(sealing.open(place, payload))
    if (text === undefined) return undefined
    const content = JSON.parse(text) as Payload
    return consumedAt === null ? content : { ...content, consumed: consumedAt }
  }
  const first = (rows: ReadonlyArray<Row>) => (rows[0] === undefined ? undefined : opened(rows[0]))

  return {
    put: (model: string, id: string, payload: Payload, names: Names, expiresIn: number | undefined) =>
      run(
        Effect.gen(function* () {
          const { accountId, grantId, uid, userCode } = names
          const expiresAt = expiresIn === undefined ? null : (yield* unixSeconds) + expiresIn
          yield* sql`
            insert into sign_in_records (model, id, payload, uid, user_code, grant_id, account_id, expires_at)
            values (${model}, ${sha256Hex(id)}, ${sealing.seal(place, JSON.stringify(payload))}, ${hashed(uid)},
              ${userCode === undefined ? null : sealing.pseudonym(codePlace, userCode)}, ${hashed(grantId)},
              ${accountId ?? null}, ${expiresAt})
            on conflict (model, id) do update set payload = excluded.payload, uid = excluded.uid,
              user_code = excluded.user_code, grant_id = excluded.grant_id, account_id = excluded.account_id,
              expires_at = excluded.expires_at`
        })
      ),
    find: (model: string, id: string) =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          return first(
            yield* sql<Row>`select payload, consumed_at from sign_in_records
              where model = ${model} and id = ${sha256Hex(id)} and (expires_at is null or expires_at > ${now})`
          )
        })
      ),
    findByUid: (model: string, uid: string) =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          return first(
            yield* sql<Row>`select payload, consumed_at from sign_in_records
              where uid = ${sha256Hex(uid)} and model = ${model} and (expires_at is null or expires_at > ${now})`
          )
        })
      ),
    findByUserCode: (model: string, userCode: string) =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          return first(
            yield* sql<Row>`select payload, consumed_at from sign_in_records
              where user_code = ${sealing.pseudonym(codePlace, userCode)} and model = ${model}
                and (expires_at is null or expires_at > ${now})`
          )
        })
      ),
    /** False where it was consumed before: of two that come at once, one has it. */
    consume: (model: string, id: string) =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          const rows = yield* sql`update sign_in_records set consumed_at = ${now}
            where model = ${model} and id = ${sha256Hex(id)} and consumed_at is null returning 1`
          return rows.length > 0
        })
      ),
    remove: (model: string, id: string) =>
      run(Effect.asVoid(sql`delete from sign_in_records where model = ${model} and id = ${sha256Hex(id)}`)),
    /** Removes what came of a grant. */
    removeByGrant: (grantId: string) =>
      run(Effect.asVoid(sql`delete from sign_in_records where grant_id = ${sha256Hex(grantId)}`)),
    /** The grants or sessions of a user. */
    ofAccount: (model: "Grant" | "Session", accountId: string) =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          const rows = yield* sql<Row>`select payload, consumed_at from sign_in_records
            where account_id = ${accountId} and model = ${model} and model in ('Grant', 'Session')
              and (expires_at is null or expires_at > ${now})`
          return rows.map(opened).filter((payload) => payload !== undefined)
        })
      )
  }
})
