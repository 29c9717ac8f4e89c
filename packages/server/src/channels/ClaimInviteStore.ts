/** The table of claim invites. A token is stored as its hash. */
import { ChannelId } from "@catenet/domain/channels/Channel"
import { HolderKey, NoiseAttestation, NoiseKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Invite = Schema.Struct({
  tokenHash: Schema.String,
  channel: ChannelId,
  holder: HolderKey,
  noisePubkey: NoiseKey,
  noiseAttestation: NoiseAttestation,
  label: Schema.NullOr(Schema.String),
  expiresAt: UnixSeconds,
  usedAt: Schema.NullOr(UnixSeconds)
})
type Invite = typeof Invite.Type

/** The position of an invite in the list of its channel. */
export const Position = Schema.Struct({ expiresAt: Schema.Int, tokenHash: Schema.String })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const invite = sql`select token_hash, channel, holder, noise_pubkey, noise_attestation, label, expires_at, used_at
    from claim_invites`
  return {
    insert: (row: Invite) => sql`insert into claim_invites ${sql.insert({ ...row })}`,
    find: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Invite,
      execute: (tokenHash) => sql`${invite} where token_hash = ${tokenHash}`
    }),
    use: (tokenHash: string, now: number) =>
      sql`update claim_invites set used_at = ${now} where token_hash = ${tokenHash}`,
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        channel: ChannelId,
        after: Schema.UndefinedOr(Position),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Invite,
      execute: ({ after, channel, limit }) => sql`${invite} where channel = ${channel}
        ${after === undefined ? sql`` : sql`and (expires_at, token_hash) > (${after.expiresAt}, ${after.tokenHash})`}
        order by expires_at, token_hash ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    prune: (before: number) => sql`delete from claim_invites where expires_at < ${before}`
  }
})
