/** The tables of allow-lists and of claims. */
import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { Claim, ClaimedIdentity } from "@catenet/domain/channels/Claim"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { HolderKey } from "@catenet/domain/values/Keys"
import { maxAllowedPerChannel } from "@catenet/domain/values/Quotas"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { insertWithinQuota, keysetOn, PageRequest } from "../store/KeysetPage.ts"
import { Sealing } from "../store/Sealing.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keyset = keysetOn(sql)
  const grant = (yield* Sealing).column("channel_grants.grant_hex", Grant)
  const identities = SqlSchema.findAll({
    Request: Schema.Struct({ channel: ChannelId, subject: Schema.String }),
    Result: Schema.Struct({ holder: HolderKey, grant: Schema.NullOr(grant) }),
    execute: ({ channel, subject }) => sql`
      select l.holder, g.grant_hex as grant from channel_claims l
      left join channel_grants g on g.channel = l.channel and g.holder = l.holder
      where l.channel = ${channel} and l.subject = ${subject} order by l.holder`
  })
  const claimant = SqlSchema.findOneOption({
    Request: Schema.Struct({ channel: ChannelId, holder: HolderKey }),
    Result: Schema.Struct({ subject: Subject, isProved: Schema.Boolean }),
    execute: ({ channel, holder }) =>
      sql`select subject, is_proved from channel_claims where channel = ${channel} and holder = ${holder}`
  })
  return {
    transaction: sql.withTransaction,
    /** Answers a row for an address that is new on the list; fails where there is no room. The caller holds the channel. */
    allow: (channel: ChannelId, email: Email) =>
      sql<{ readonly isNew: boolean }>`
      insert into channel_allowlist (channel, email) select ${channel}, ${email}
      where (select count(*) from channel_allowlist where channel = ${channel} and email <> ${email}) < ${maxAllowedPerChannel}
      on conflict (channel, email) do update set email = excluded.email returning xmax = 0 as is_new`.pipe(
        Effect.tap(insertWithinQuota("addresses on the allow-list of this channel", maxAllowedPerChannel)),
        Effect.map((rows) => rows.filter(({ isNew }) => isNew))
      ),
    /** Answers a row for an address that was on the list. */
    disallow: (channel: ChannelId, email: Email) =>
      sql`delete from channel_allowlist where channel = ${channel} and email = ${email} returning email`,
    allowed: SqlSchema.findAll({
      Request: PageRequest,
      Result: Schema.Struct({ email: Email }),
      execute: (slice) => sql`select email from channel_allowlist where channel = ${slice.of} ${keyset("email", slice)}`
    }),
    isAllowed: (channel: ChannelId, email: Email) =>
      sql`select 1 from channel_allowlist where channel = ${channel} and email = ${email}`,
    /** The account that has claimed the holder. */
    claimedBy: (place: { readonly channel: ChannelId; readonly holder: HolderKey }) =>
      Effect.map(claimant(place), (found) => Option.getOrNull(Option.map(found, ({ subject }) => subject))),
    /** The same, with whether the holder has signed for it. */
    claimOf: claimant,
    /** Whoever may take the claim was decided before; a proof that was shown once stays. */
    putClaim: (row: {
      readonly channel: ChannelId
      readonly holder: HolderKey
      readonly subject: string
      readonly isProved: boolean
    }) =>
      sql`insert into channel_claims as c ${sql.insert({ ...row })}
        on conflict (channel, holder) do update set subject = excluded.subject,
          is_proved = excluded.is_proved or (c.is_proved and c.subject = excluded.subject)`,
    claimsOf: SqlSchema.findAll({
      Request: Schema.Struct({ ...PageRequest.fields, subject: Schema.String }),
      Result: Claim,
      execute: (slice) => sql`
        select channel, case when exists (
            select 1 from channel_claims l where l.channel = a.channel and l.subject = ${slice.subject}
          ) then 'Claimed' else 'Pending' end as state
        from channel_allowlist a where email = ${slice.of} ${keyset("channel", slice)}`
    }),
    identitiesOf: (place: { readonly channel: ChannelId; readonly subject: string }) =>
      Effect.map(identities(place), (rows) => rows.map((row) => new ClaimedIdentity(row)))
  }
})

export class ClaimStore extends Context.Service<ClaimStore>()("server/channels/ClaimStore", { make }) {
  static readonly layer = Layer.effect(ClaimStore, ClaimStore.make)
}
