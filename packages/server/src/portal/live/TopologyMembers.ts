/** Counts members of the channels noted at the links of a topology; an account sees the counts of its own channels. */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { sqlOrDie } from "../../store/SqlOrDie.ts"

const Counted = Schema.Struct({
  topology: Schema.String,
  owner: Schema.String,
  channel: Schema.String,
  members: Schema.Int
})

export const ownOf = (
  counts: ReadonlyArray<typeof Counted.Type>,
  { subject, topology }: { readonly subject: string | undefined; readonly topology: string }
) => counts.filter((row) => row.topology === topology && row.owner === subject)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const countsOf = SqlSchema.findAll({
    Request: Schema.Array(Schema.String),
    Result: Counted,
    execute: (topologies) => sql`
      select e.topology_id as topology, c.owner, c.channel, (
        select count(*)::int from channel_members m where m.channel = c.channel) as members
      from (select distinct topology_id, note from topology_edges
        where topology_id = any(${topologies}::text[]) and note is not null) e
      join channels c on c.channel = e.note order by c.channel`
  })
  return { countsOf: (topologies: ReadonlyArray<string>) => sqlOrDie(countsOf(topologies)) }
})
