/** Channels, their members and the grants that wait for members. */
import { Channel, ChannelId, DepositedGrant, Grant, Member } from "@catenet/domain/channels/Channel"
import { OperatorProof } from "@catenet/domain/channels/ChannelOperator"
import { Subject } from "@catenet/domain/values/Ids"
import { HolderKey, type NoiseAttestation, type NoiseKey, OperatorKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { maxMembersPerChannel } from "@catenet/domain/values/Quotas"
import { Array as Arr, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { keysetOn, PageRequest } from "../store/KeysetPage.ts"
import { Sealing } from "../store/Sealing.ts"
import { expiryOf } from "./GrantExpiries.ts"

const Registered = Schema.Struct({
  channel: ChannelId,
  owner: Subject,
  operatorPubkey: OperatorKey,
  proof: OperatorProof
})

/** How many channels an account has, and how many an operator allowed it; null without such a limit. */
const counted = { held: Schema.Int, most: Schema.NullOr(Schema.Int) }
const Counted = Schema.Struct(counted)
export type Counted = typeof Counted.Type

const ChannelSummary = Schema.Struct({
  channel: ChannelId,
  label: Schema.NullOr(Schema.String),
  members: Schema.Int,
  /** When the first of the deposited grants ends; null without one. */
  grantsEnd: Schema.NullOr(UnixSeconds)
})
export type ChannelSummary = typeof ChannelSummary.Type

const NewRow = Schema.Struct({
  channel: ChannelId,
  owner: Schema.String,
  operatorPubkey: OperatorKey,
  proof: OperatorProof,
  createdAt: Schema.Int
})
/** As `channel_register` inserts it: without a proof. */
const UnprovedRow = NewRow.mapFields(Struct.omit(["proof"]))
export type NewChannel = typeof NewRow.Type

export interface NewMember {
  readonly channel: ChannelId
  readonly holder: HolderKey
  readonly noisePubkey: NoiseKey
  readonly noiseAttestation: NoiseAttestation
}

const make = Effect.map(Effect.all([SqlClient.SqlClient, Sealing]), ([sql, sealing]) => {
  const keyset = keysetOn(sql)
  const deposited = SqlSchema.findAll({
    Request: PageRequest,
    Result: Schema.Struct({ holder: HolderKey, grant: sealing.column("channel_grants.grant_hex", Grant) }),
    execute: (slice) => sql`
      select holder, grant_hex as grant from channel_grants where channel = ${slice.of} ${keyset("holder", slice)}`
  })

  return {
    transaction: sql.withTransaction,
    /** Commands on one channel come one after the other, also on one that is not registered yet. */
    lock: (channel: ChannelId) => sql`select pg_advisory_xact_lock(hashtextextended(${channel}, 3))`,
    /** Every command takes the locks in one order, so that commands with common channels never wait for each other. */
    lockAll: (channels: ReadonlyArray<ChannelId>) => sql`
      select pg_advisory_xact_lock(hashtextextended(channel, 3))
      from json_array_elements_text(${JSON.stringify(channels.toSorted())}::json) as channel`,
    /**
     * Reads what decides about a registration, and holds the lock of the account until the transaction ends. The caller holds
     * the channel since an earlier statement: one that waits for a lock itself would read as of before the wait. The channel's
     * columns are null where it is not registered.
     */
    toRegister: SqlSchema.findOne({
      Request: Schema.Struct({ channel: ChannelId, owner: Schema.String }),
      Result: Schema.Struct({
        owner: Schema.NullOr(Subject),
        operatorPubkey: Schema.NullOr(OperatorKey),
        proof: Schema.NullOr(OperatorProof),
        ...counted
      }),
      execute: ({ channel, owner }) => sql`
        select c.owner, c.operator_pubkey, c.proof, n.held, n.most
        from channels_counted(${owner}) n left join channels c on c.channel = ${channel}`
    }),

    /** A row where the channel is that of a link whose topology is bound to an operator with another key. */
    boundToOther: SqlSchema.findAll({
      Request: Schema.Struct({ channel: ChannelId, offered: OperatorKey }),
      Result: Schema.Struct({ isBound: Schema.Boolean }),
      execute: ({ channel, offered }) => sql`
        select true as is_bound from topology_edges e join topologies t on t.id = e.topology_id
        where e.link = ${channel} and t.operator_pubkey <> ${offered} limit 1`
    }),

    /** A row where the channel is that of a link of the account's topology, and the topology is bound to this key. */
    boundByOwner: SqlSchema.findAll({
      Request: Schema.Struct({ channel: ChannelId, offered: OperatorKey, owner: Schema.String }),
      Result: Schema.Struct({ isBound: Schema.Boolean }),
      execute: ({ channel, offered, owner }) => sql`
        select true as is_bound from topology_edges e join topologies t on t.id = e.topology_id
        where e.link = ${channel} and t.operator_pubkey = ${offered} and t.owner = ${owner} limit 1`
    }),

    find: SqlSchema.findOneOption({
      Request: ChannelId,
      Result: Registered,
      execute: (channel) => sql`select channel, owner, operator_pubkey, proof from channels where channel = ${channel}`
    }),
    findAll: SqlSchema.findAll({
      Request: Schema.Array(ChannelId),
      Result: Registered,
      execute: (channels) =>
        sql`select channel, owner, operator_pubkey, proof from channels where ${sql.in("channel", channels)}`
    }),
    insert: (rows: Arr.NonEmptyReadonlyArray<NewChannel>) =>
      sql`insert into channels ${sql.insert(Arr.map(rows, (row) => ({ ...row })))} returning 1`,
    setOperator: (channel: ChannelId, operatorPubkey: string, proof: OperatorProof) =>
      sql`update channels set ${sql.update({ operatorPubkey, proof })} where channel = ${channel}`,
    /** Their account has proved the key from which all of them are derived. */
    prove: (channels: ReadonlyArray<ChannelId>) =>
      sql`update channels set proof = 'derived' where ${sql.in("channel", channels)} and proof <> 'derived'`,
    drop: (channel: ChannelId) => sql`delete from channels where channel = ${channel}`,
    dropAll: (channels: Arr.NonEmptyReadonlyArray<ChannelId>) =>
      sql`delete from channels where ${sql.in("channel", channels)}`,
    /** Registers a channel with its audit entry where it is not registered and there is room; else nothing is changed. */
    register: SqlSchema.findOne({
      Request: Schema.Struct({ row: UnprovedRow, usualMost: Schema.Int, actor: Schema.String, action: Schema.String }),
      Result: Schema.Struct({ isNew: Schema.Boolean, refusal: Schema.NullOr(Schema.String) }),
      execute: ({ action, actor, row: { channel, createdAt, operatorPubkey, owner }, usualMost }) => sql`
        select is_new, refusal
        from channel_register(${channel}, ${owner}, ${operatorPubkey}, ${usualMost}, ${actor}, ${action}, ${createdAt})`
    }),
    /** Holds the lock of the account until the transaction ends; it is taken after those of channels. */
    counted: SqlSchema.findOne({
      Request: Schema.String,
      Result: Counted,
      execute: (owner) => sql`select held, most from channels_counted(${owner})`
    }),
    list: SqlSchema.findAll({
      Request: PageRequest,
      Result: Schema.Struct({ channel: ChannelId }),
      execute: (slice) => sql`select channel from channels where owner = ${slice.of} ${keyset("channel", slice)}`
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

    /** The channels of an account as its pages list them, or the one of them that is named. */
    summaries: SqlSchema.findAll({
      Request: Schema.Struct({ owner: Schema.String, channel: Schema.NullOr(ChannelId) }),
      Result: ChannelSummary,
      execute: ({ channel, owner }) => sql`
        select channel, label,
          (select count(*)::int from channel_members m where m.channel = c.channel) as members,
          (select min(expires_at) from channel_grants g where g.channel = c.channel and g.expires_at > 0) as grants_end
        from channels c where owner = ${owner} ${channel === null ? sql`` : sql`and channel = ${channel}`}
        order by label collate "C" nulls last, channel`
    }),
    setLabel: (channel: ChannelId, label: string | null) =>
      sql`update channels set label = ${label} where channel = ${channel}`,

    /**
     * Answers a row, unless the member is stored with the same key and attestation already, or there is no room for one more;
     * the caller holds the channel.
     */
    putMember: ({ channel, holder, noiseAttestation, noisePubkey }: NewMember) => sql`
      insert into channel_members (channel, holder, noise_pubkey, noise_attestation)
      select ${channel}, ${holder}, ${noisePubkey}, ${noiseAttestation}
      where (select count(*) from channel_members where channel = ${channel} and holder <> ${holder}) < ${maxMembersPerChannel}
      on conflict (channel, holder) do update
      set noise_pubkey = excluded.noise_pubkey, noise_attestation = excluded.noise_attestation
      where (channel_members.noise_pubkey, channel_members.noise_attestation)
        is distinct from (excluded.noise_pubkey, excluded.noise_attestation)
      returning 1`,
    dropMember: (channel: ChannelId, holder: HolderKey) =>
      sql`delete from channel_members where channel = ${channel} and holder = ${holder} returning 1`,
    members: SqlSchema.findAll({
      Request: PageRequest,
      Result: Member,
      execute: (slice) =>
        sql`select holder, noise_pubkey from channel_members where channel = ${slice.of} ${keyset("holder", slice)}`
          .withoutTransform
    }),
    isMember: ({ channel, holder }: { readonly channel: ChannelId; readonly holder: HolderKey }) =>
      sql`select 1 from channel_members where channel = ${channel} and holder = ${holder}`,
    /** Says whether there was a grant before; a row that is inserted has been locked by none. */
    putGrant: (row: { readonly channel: ChannelId; readonly holder: HolderKey; readonly grantHex: Grant }) =>
      sql`insert into channel_grants ${sql.insert({
        ...row,
        grantHex: sealing.seal("channel_grants.grant_hex", row.grantHex),
        expiresAt: expiryOf(row.grantHex)
      })}
        on conflict (channel, holder) do update set grant_hex = excluded.grant_hex, expires_at = excluded.expires_at`,
    grants: (slice: typeof PageRequest.Type) =>
      Effect.map(deposited(slice), (rows) => rows.map((row) => new DepositedGrant(row)))
  }
})

export class ChannelStore extends Context.Service<ChannelStore>()("server/channels/ChannelStore", { make }) {
  static readonly layer = Layer.effect(ChannelStore, ChannelStore.make)
}
