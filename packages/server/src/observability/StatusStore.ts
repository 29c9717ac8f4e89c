/** The counts of the status page, all in one statement. */
import { Count } from "@catenet/domain/values/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Counts = Schema.Struct({
  hosts: Count,
  agents: Count,
  accounts: Count,
  payments: Count,
  pipelines: Count,
  directory: Count
})
export type Counts = typeof Counts.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    counts: SqlSchema.findOne({
      Request: Schema.Void,
      Result: Counts,
      execute: () => sql`select
        (select count(*) from hosts) as hosts,
        (select count(*) from join_tokens where redeemed_at is not null)
          + (select count from pruned_redemptions) as agents,
        (select count(*) from accounts) as accounts, (select count(*) from payment_intents where confirmed) as payments,
        (select count(*) from pipelines) as pipelines, (select count(*) from directory_agents) as directory`
    }),
    /** Reads from the database, and nothing else. */
    ping: sql`select 1 from schema_migrations limit 1`
  }
})
