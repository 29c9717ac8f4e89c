/** What makes a challenge and an invitation good for one use. */
import { Challenge } from "@catenet/domain/channels/Channel"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    transaction: sql.withTransaction,
    issue: (challenge: Challenge, issuedAt: number) =>
      sql`insert into invitation_challenges ${sql.insert({ challenge, issuedAt })}`,
    /** Whoever else names the challenge waits until this attempt is over. */
    findChallenge: SqlSchema.findOneOption({
      Request: Challenge,
      Result: Schema.Struct({ issuedAt: Schema.Int }),
      execute: (challenge) => sql`select issued_at from invitation_challenges where challenge = ${challenge} for update`
    }),
    spendChallenge: (challenge: Challenge) => sql`delete from invitation_challenges where challenge = ${challenge}`,
    isRedeemed: (signature: string) => sql`select 1 from invitation_redemptions where signature = ${signature}`,
    /** Kept until the invitation expires by itself. */
    markRedeemed: (signature: string, expiresAt: number) =>
      sql`insert into invitation_redemptions ${sql.insert({ signature, expiresAt })}`,
    forget: (challengesBefore: number, now: number) =>
      Effect.all([
        sql`delete from invitation_challenges where issued_at < ${challengesBefore}`,
        sql`delete from invitation_redemptions where expires_at <= ${now}`
      ])
  }
})
