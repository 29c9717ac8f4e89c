/** The table of the agent directory. */
import { CardUrl, DirectoryToken } from "@catenet/domain/agents/Directory"
import { HolderKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const tokens = Schema.Array(DirectoryToken)
const Entry = Schema.Struct({
  holderPubkey: HolderKey,
  cardUrl: CardUrl,
  roleTags: tokens,
  skillIds: tokens,
  registeredAt: UnixSeconds
})
export type Entry = typeof Entry.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const entries = sql`select holder_pubkey, card_url, role_tags, skill_ids, registered_at from directory_agents`
  return {
    put: ({ cardUrl, holderPubkey, registeredAt, roleTags, skillIds }: Entry) => sql`
      insert into directory_agents (holder_pubkey, card_url, role_tags, skill_ids, registered_at)
      values (${holderPubkey}, ${cardUrl}, ${roleTags}::text[], ${skillIds}::text[], ${registeredAt})
      on conflict (holder_pubkey) do update set card_url = excluded.card_url, role_tags = excluded.role_tags,
        skill_ids = excluded.skill_ids, registered_at = excluded.registered_at`,
    find: SqlSchema.findOneOption({
      Request: HolderKey,
      Result: Entry,
      execute: (holder) => sql`${entries} where holder_pubkey = ${holder}`
    }),
    search: SqlSchema.findAll({
      Request: Schema.Struct({
        role: Schema.UndefinedOr(DirectoryToken),
        skill: Schema.UndefinedOr(DirectoryToken),
        after: Schema.UndefinedOr(HolderKey),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Entry,
      execute: ({ after, limit, role, skill }) => sql`
        ${entries} where ${sql.and([
          sql`true`,
          ...(role === undefined ? [] : [sql`role_tags @> ${[role]}::text[]`]),
          ...(skill === undefined ? [] : [sql`skill_ids @> ${[skill]}::text[]`]),
          ...(after === undefined ? [] : [sql`holder_pubkey > ${after}`])
        ])} order by holder_pubkey ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    transaction: sql.withTransaction
  }
})
