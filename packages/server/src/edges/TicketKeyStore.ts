/** The table of ticket keys. One that no key of `CT_CP_SEAL_KEY` opens is as good as none. */
import { TicketKeyBytes } from "@catenet/domain/edges/TicketKeys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Effect, Redacted, Result, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Sealing } from "../store/Sealing.ts"

const Row = Schema.Struct({ fromAt: UnixSeconds, key: Schema.String })
const place = "ticket_keys.key"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { open, prefix, seal } = yield* Sealing
  const read = Schema.decodeSync(TicketKeyBytes)
  const rows = SqlSchema.findAll({
    Request: UnixSeconds,
    Result: Row,
    execute: (from) => sql`select from_at, key from ticket_keys where from_at >= ${from} order by from_at`
  })
  return {
    /** The first of several replicas that make a key for one period has made it. */
    keep: (fromAt: UnixSeconds, key: typeof TicketKeyBytes.Type) => {
      const row = { fromAt, key: seal(place, Redacted.value(key)) }
      return sql`
        insert into ticket_keys ${sql.insert(row)} on conflict (from_at) do update set key = excluded.key
        where left(ticket_keys.key, 12) <> ${prefix}`
    },
    /** From this second on, by time. */
    since: (from: UnixSeconds) =>
      Effect.map(rows(from), (found) =>
        found.flatMap(({ fromAt, key }) =>
          Result.match(open(place, key), {
            onFailure: () => [],
            onSuccess: (text) => [{ fromAt, key: read(text) }]
          })
        )
      ),
    prune: (from: UnixSeconds) => sql`delete from ticket_keys where from_at < ${from}`
  }
})
