/** Who may claim a membership, who has, and the invites that let one be claimed. */
import { ChannelId, Claim, ClaimedIdentity } from "@catenet/domain/Channel"
import { Email } from "@catenet/domain/Email"
import { HolderKey, NoiseAttestation, NoiseKey } from "@catenet/domain/Keys"
import { UnixSeconds } from "@catenet/domain/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Slice = Schema.Struct({
  of: Schema.String,
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int)
})

const Invite = Schema.Struct({
  tokenHash: Schema.String,
  channel: ChannelId,
  owner: Schema.String,
  holder: HolderKey,
  noisePubkey: NoiseKey,
  noiseAttestation: NoiseAttestation,
  label: Schema.NullOr(Schema.String),
  expiresAt: UnixSeconds,
  usedAt: Schema.NullOr(Schema.Int)
})
export type Invite = typeof Invite.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const slice = (column: string, { after, limit }: typeof Slice.Type) => sql`
    ${after === undefined ? sql`` : sql`and ${sql(column)} > ${after}`}
    order by ${sql(column)} ${limit === undefined ? sql`` : sql`limit ${limit}`}`
  const invite = sql`select i.token_hash, i.channel, c.owner, i.holder, i.noise_pubkey, i.noise_attestation, i.label,
      i.expires_at, i.used_at
    from claim_invites i join channels c on c.channel = i.channel`

  return {
    allow: (channel: ChannelId, email: Email) =>
      sql`insert into channel_allowlist ${sql.insert({ channel, email })} on conflict do nothing`,
    disallow: (channel: ChannelId, email: Email) =>
      sql`delete from channel_allowlist where channel = ${channel} and email = ${email}`,
    allowed: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ email: Email }),
      execute: (request) =>
        sql`select email from channel_allowlist where channel = ${request.of} ${slice("email", request)}`
    }),
    isAllowed: (channel: ChannelId, email: string) =>
      sql`select 1 from channel_allowlist where channel = ${channel} and email = ${email}`,
    claimantOf: SqlSchema.findOneOption({
      Request: Schema.Struct({ channel: ChannelId, holder: HolderKey }),
      Result: Schema.Struct({ subject: Schema.String }),
      execute: ({ channel, holder }) =>
        sql`select subject from channel_claims where channel = ${channel} and holder = ${holder}`
    }),
    putClaim: (row: { readonly channel: ChannelId; readonly holder: HolderKey; readonly subject: string }) =>
      sql`insert into channel_claims ${sql.insert({ ...row })} on conflict do nothing`,
    /** A membership that was removed is pending again, as long as the e-mail is on the list. */
    claimsOf: SqlSchema.findAll({
      Request: Schema.Struct({ ...Slice.fields, subject: Schema.String }),
      Result: Claim,
      execute: (request) => sql`
        select channel, case when exists (
            select 1 from channel_claims l where l.channel = a.channel and l.subject = ${request.subject}
          ) then 'Claimed' else 'Pending' end as state
        from channel_allowlist a where email = ${request.of} ${slice("channel", request)}`
    }),
    identitiesOf: SqlSchema.findAll({
      Request: Schema.Struct({ channel: ChannelId, subject: Schema.String }),
      Result: ClaimedIdentity,
      execute: ({ channel, subject }) => sql`
        select l.holder, g.grant_hex as grant from channel_claims l
        left join channel_grants g on g.channel = l.channel and g.holder = l.holder
        where l.channel = ${channel} and l.subject = ${subject} order by l.holder`
    }),

    insertInvite: (row: Omit<Invite, "owner" | "usedAt">) => sql`insert into claim_invites ${sql.insert({ ...row })}`,
    findInvite: SqlSchema.findOneOption({
      Request: Schema.Struct({ tokenHash: Schema.String, lock: Schema.Boolean }),
      Result: Invite,
      execute: ({ lock, tokenHash }) =>
        sql`${invite} where i.token_hash = ${tokenHash} ${lock ? sql`for update of i` : sql``}`
    }),
    burnInvite: (tokenHash: string, now: number) =>
      sql`update claim_invites set used_at = ${now} where token_hash = ${tokenHash}`,
    invitesOf: SqlSchema.findAll({
      Request: Slice,
      Result: Invite,
      execute: (request) => sql`${invite} where i.channel = ${request.of} ${slice("token_hash", request)}`
    })
  }
})
