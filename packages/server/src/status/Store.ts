/** The counts of the status page, all in one statement. */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Count } from "@catenet/domain/Numbers"

const Counts = Schema.Struct({ hosts: Count, agents: Count })
export type Counts = typeof Counts.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    counts: SqlSchema.findOne({
      Request: Schema.Void,
      Result: Counts,
      execute: () => sql`select (select count(*) from hosts) as hosts, (select count(*) from agents) as agents`
    }),
    /** Reads from the database, and nothing else. */
    ping: sql`select 1 from schema_migrations limit 1`
  }
})
