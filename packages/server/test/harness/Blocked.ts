/** Waits within a transaction until another connection waits for it to end. */
import { until } from "@catenet/testing/Eventually"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const blocked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
    and pg_backend_pid() = any(pg_blocking_pids(pid))`
  yield* until(waiting, (rows) => rows.length > 0, "5 millis")
})
