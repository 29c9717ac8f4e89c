/** The tables of issued challenges and of redeemed invitations. */
import { Challenge } from "@catenet/domain/channels/InvitationRedemption"
import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const issued = SqlSchema.findOneOption({
    Request: Challenge,
    Result: Schema.Struct({ issuedAt: Schema.Int }),
    execute: (challenge) => sql`select issued_at from invitation_challenges where challenge = ${challenge} for update`
  })
  return {
    transaction: sql.withTransaction,
    issue: (challenge: Challenge, issuedAt: number) =>
      sql`insert into invitation_challenges ${sql.insert({ challenge, issuedAt })}`,
    /** When the challenge was issued, or null. Other attempts that name it wait until this transaction ends. */
    issuedAt: (challenge: Challenge) =>
      Effect.map(issued(challenge), (found) => Option.getOrNull(Option.map(found, ({ issuedAt }) => issuedAt))),
    spendChallenge: (challenge: Challenge) => sql`delete from invitation_challenges where challenge = ${challenge}`,
    isRedeemed: (signature: string) => sql`select 1 from invitation_redemptions where signature = ${signature}`,
    /** The mark stays until the invitation expires. */
    markRedeemed: (signature: string, expiresAt: number) =>
      sql`insert into invitation_redemptions ${sql.insert({ signature, expiresAt })}`,
    prune: (challengesBefore: number, now: number) =>
      Effect.all([
        sql`delete from invitation_challenges where issued_at < ${challengesBefore}`,
        sql`delete from invitation_redemptions where expires_at <= ${now}`
      ])
  }
})
