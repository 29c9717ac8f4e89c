/** The table of ticket keys. */
import { TicketKeyBytes } from "@catenet/domain/edges/TicketKeys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Sealing } from "../store/Sealing.ts"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { column } = yield* Sealing
  const Row = Schema.Struct({ fromAt: UnixSeconds, key: column("ticket_keys.key", TicketKeyBytes) })
  return {
    /** The first of several replicas that make a key for one period has made it. */
    keep: SqlSchema.void({
      Request: Row,
      execute: (row) => sql`insert into ticket_keys ${sql.insert(row)} on conflict do nothing`
    }),
    /** From this second on, by time. */
    since: SqlSchema.findAll({
      Request: UnixSeconds,
      Result: Row,
      execute: (from) => sql`select from_at, key from ticket_keys where from_at >= ${from} order by from_at`
    }),
    prune: (from: UnixSeconds) => sql`delete from ticket_keys where from_at < ${from}`
  }
})
