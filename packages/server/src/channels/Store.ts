/** Channels, their members and the grants that wait for members. */
import { Channel, ChannelId, DepositedGrant, type Grant, Member } from "@catenet/domain/Channel"
import { HolderKey, NoiseAttestation, NoiseKey, OperatorKey } from "@catenet/domain/Keys"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Registered = Schema.Struct({ owner: Schema.String, operatorPubkey: OperatorKey })

const MemberRow = Schema.Struct({ holder: HolderKey, noisePubkey: NoiseKey })
const Authorised = Schema.Struct({
  operatorPubkey: OperatorKey,
  noisePubkey: NoiseKey,
  noiseAttestation: NoiseAttestation
})

const Slice = Schema.Struct({
  of: Schema.String,
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int)
})

export interface NewMember {
  readonly channel: ChannelId
  readonly holder: HolderKey
  readonly noisePubkey: NoiseKey
  readonly noiseAttestation: NoiseAttestation
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const slice = (column: string, { after, limit }: typeof Slice.Type) => sql`
    ${after === undefined ? sql`` : sql`and ${sql(column)} > ${after}`}
    order by ${sql(column)} ${limit === undefined ? sql`` : sql`limit ${limit}`}`

  return {
    transaction: sql.withTransaction,
    /** Commands on one channel come one after the other, also on one that is not registered yet. */
    lock: (channel: ChannelId) => sql`select pg_advisory_xact_lock(hashtextextended(${channel}, 3))`,
    lockAccount: (owner: string) => sql`select pg_advisory_xact_lock(hashtextextended(${owner}, 4))`,
    find: SqlSchema.findOneOption({
      Request: ChannelId,
      Result: Registered,
      execute: (channel) => sql`select owner, operator_pubkey from channels where channel = ${channel}`
    }),
    put: (row: {
      readonly channel: ChannelId
      readonly owner: string
      readonly operatorPubkey: string
      readonly createdAt: number
    }) =>
      sql`insert into channels ${sql.insert({ ...row })}
        on conflict (channel) do update set operator_pubkey = excluded.operator_pubkey`,
    drop: (channel: ChannelId) => sql`delete from channels where channel = ${channel}`,
    countOf: SqlSchema.findOne({
      Request: Schema.String,
      Result: Schema.Struct({ count: Schema.Int, limit: Schema.NullOr(Schema.Int) }),
      execute: (owner) => sql`
        select (select count(*) from channels where owner = ${owner}) as count,
          (select max_channels from account_limits where subject = ${owner}) as limit`
    }),
    list: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ channel: ChannelId }),
      execute: (request) => sql`select channel from channels where owner = ${request.of} ${slice("channel", request)}`
    }),
    describe: SqlSchema.findOneOption({
      Request: Schema.Struct({ channel: ChannelId, owner: Schema.String }),
      Result: Channel,
      execute: ({ channel, owner }) =>
        sql`
        select channel, operator_pubkey as operator_pubkey,
          (select count(*) from channel_members m where m.channel = c.channel) as members
        from channels c where channel = ${channel} and owner = ${owner}`.withoutTransform
    }),

    putMember: (member: NewMember) => sql`insert into channel_members ${sql.insert({ ...member })}
      on conflict (channel, holder) do update
      set noise_pubkey = excluded.noise_pubkey, noise_attestation = excluded.noise_attestation`,
    dropMember: (channel: ChannelId, holder: HolderKey) =>
      sql`delete from channel_members where channel = ${channel} and holder = ${holder}`,
    members: SqlSchema.findAll({
      Request: Slice,
      Result: MemberRow,
      execute: (request) =>
        sql`select holder, noise_pubkey from channel_members where channel = ${request.of} ${slice("holder", request)}`
    }),
    isMember: SqlSchema.findOneOption({
      Request: Schema.Struct({ channel: ChannelId, holder: HolderKey }),
      Result: Authorised,
      execute: ({ channel, holder }) => sql`
        select c.operator_pubkey, m.noise_pubkey, m.noise_attestation
        from channel_members m join channels c on c.channel = m.channel
        where m.channel = ${channel} and m.holder = ${holder}`
    }),
    putGrant: (row: { readonly channel: ChannelId; readonly holder: HolderKey; readonly grantHex: Grant }) =>
      sql`insert into channel_grants ${sql.insert({ ...row })}
        on conflict (channel, holder) do update set grant_hex = excluded.grant_hex`,
    grants: SqlSchema.findAll({
      Request: Slice,
      Result: DepositedGrant,
      execute: (request) => sql`
        select holder, grant_hex as grant from channel_grants where channel = ${request.of} ${slice("holder", request)}`
    })
  }
})

/** As others see a member. */
export const shown = ({ holder, noisePubkey }: typeof MemberRow.Type) =>
  new Member({ holder, noise_pubkey: noisePubkey })
