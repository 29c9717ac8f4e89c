/**
 * Codes that were mailed for a sign-in. A code is stored as a pseudonym under the seal key, as it is short enough to be
 * tried out; its address is sealed. It ends after its time, after five tries, and when it is taken.
 */
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { sha256Hex } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"

/** Wrong codes of one sign-in. */
const maxTries = 5

const place = "sign_in_codes.email"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  const run = Effect.runPromiseWith(yield* Effect.context())
  const stored = (signIn: string, code: string) => sealing.pseudonym("sign_in_codes.code", `${signIn} ${code}`)

  return {
    /** Replaces an earlier code of the same sign-in, and its tries. */
    put: (signIn: string, email: string, code: string, expiresIn: number) =>
      run(
        Effect.gen(function* () {
          const expiresAt = (yield* unixSeconds) + expiresIn
          yield* sql`
            insert into sign_in_codes (sign_in, email, code, expires_at)
            values (${sha256Hex(signIn)}, ${sealing.seal(place, email)}, ${stored(signIn, code)}, ${expiresAt})
            on conflict (sign_in) do update set email = excluded.email, code = excluded.code, tries = 0,
              expires_at = excluded.expires_at`
        })
      ),
    /** The address that the code was mailed to, once. Each call is a try. */
    take: (signIn: string, code: string) =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          const key = sha256Hex(signIn)
          const tried = yield* sql`update sign_in_codes set tries = tries + 1
            where sign_in = ${key} and tries < ${maxTries} and expires_at > ${now} returning 1`
          if (tried.length === 0) return { wrong: "ended" as const }
          const [taken] = yield* sql<{ readonly email: string }>`delete from sign_in_codes
            where sign_in = ${key} and code = ${stored(signIn, code)} returning email`
          if (taken === undefined) return { wrong: "code" as const }
          return { email: Result.getOrThrow(sealing.open(place, taken.email)) }
        })
      )
  }
})
