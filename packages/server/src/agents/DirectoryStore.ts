/** The table of the agent directory. */
import { CardUrl, DirectoryToken } from "@catenet/domain/agents/Directory"
import { HolderKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { maxListedAgentsPerAccount } from "@catenet/domain/values/Quotas"
import { Subject } from "@catenet/domain/values/Subject"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const tokens = Schema.Array(DirectoryToken)
const Entry = Schema.Struct({
  holderPubkey: HolderKey,
  cardUrl: CardUrl,
  roleTags: tokens,
  skillIds: tokens,
  registeredAt: UnixSeconds,
  /** Null for entries of the operator. */
  subject: Schema.NullOr(Subject),
  expiresAt: Schema.NullOr(UnixSeconds)
})
export type Entry = typeof Entry.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const entries = sql`select holder_pubkey, card_url, role_tags, skill_ids, registered_at, subject, expires_at
    from directory_agents`
  const isListed = (now: number) => sql`(expires_at is null or expires_at > ${now})`
  return {
    lock: (subject: Subject) => sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 102))`,
    /** No row where the account has no room; the caller holds the account's lock. */
    put: ({ cardUrl, expiresAt, holderPubkey, registeredAt, roleTags, skillIds, subject }: Entry) => sql`
      insert into directory_agents (holder_pubkey, card_url, role_tags, skill_ids, registered_at, subject, expires_at)
      select ${holderPubkey}, ${cardUrl}, ${roleTags}::text[], ${skillIds}::text[], ${registeredAt}::bigint,
        ${subject}::text, ${expiresAt}::bigint
      where ${subject}::text is null or (select count(*) from directory_agents
        where subject = ${subject} and holder_pubkey <> ${holderPubkey}) < ${maxListedAgentsPerAccount}
      on conflict (holder_pubkey) do update set card_url = excluded.card_url, role_tags = excluded.role_tags,
        skill_ids = excluded.skill_ids, registered_at = excluded.registered_at, subject = excluded.subject,
        expires_at = excluded.expires_at
      returning holder_pubkey`,
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ holder: HolderKey, now: Schema.Int }),
      Result: Entry,
      execute: ({ holder, now }) => sql`${entries} where holder_pubkey = ${holder} and ${isListed(now)}`
    }),
    listOwn: SqlSchema.findAll({
      Request: Schema.Struct({
        subject: Subject,
        now: Schema.Int,
        after: Schema.UndefinedOr(HolderKey),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Entry,
      execute: ({ after, limit, now, subject }) => sql`
        ${entries} where subject = ${subject} and ${isListed(now)}
          ${after === undefined ? sql`` : sql`and holder_pubkey > ${after}`}
        order by holder_pubkey ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    remove: (subject: Subject, holder: HolderKey) =>
      sql`delete from directory_agents where holder_pubkey = ${holder} and subject = ${subject} returning holder_pubkey`,
    prune: (now: number) => sql`delete from directory_agents where expires_at <= ${now}`,
    search: SqlSchema.findAll({
      Request: Schema.Struct({
        role: Schema.UndefinedOr(DirectoryToken),
        skill: Schema.UndefinedOr(DirectoryToken),
        now: Schema.Int,
        after: Schema.UndefinedOr(HolderKey),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Entry,
      execute: ({ after, limit, now, role, skill }) => sql`
        ${entries} where ${sql.and([
          isListed(now),
          ...(role === undefined ? [] : [sql`role_tags @> ${[role]}::text[]`]),
          ...(skill === undefined ? [] : [sql`skill_ids @> ${[skill]}::text[]`]),
          ...(after === undefined ? [] : [sql`holder_pubkey > ${after}`])
        ])} order by holder_pubkey ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    transaction: sql.withTransaction
  }
})
