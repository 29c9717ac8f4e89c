/**
 * The one PostgreSQL of the control plane: a pool whose statements share connections, names in snake case on the wire
 * and camel case here, and the schema brought up to date before anything else may use it.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, String as Str } from "effect"
import * as CorkedSocket from "../fastpath/CorkedSocket.ts"
import { Settings } from "../settings/Settings.ts"
import * as Contention from "./Contention.ts"
import * as DatabaseTls from "./DatabaseTls.ts"
import * as Int8 from "./Int8.ts"
import * as LostTransaction from "./LostTransaction.ts"
import { migrate } from "./Migrations.ts"
import { whileStarting } from "./Unavailable.ts"

/** The client alone, for a database whose schema another program keeps. */
export const layerClient = PgClient.layerFrom(
  Effect.gen(function* () {
    const settings = yield* Settings
    const { ssl, url } = yield* DatabaseTls.resolve(settings)
    const client = yield* PgClient.make({
      url,
      ssl,
      stream: CorkedSocket.to(url),
      maxConnections: settings.databasePool,
      // Of one size: effect 4.1's pool that grows can leave its callers asleep for ever after a connection has failed.
      minConnections: settings.databasePool,
      multiplex: true,
      applicationName: "catenet",
      transformQueryNames: Str.camelToSnake,
      transformResultNames: Str.snakeToCamel,
      transformJson: false,
      types: Int8.registry(),
      // A statement that hangs must not hold locks for ever; long work belongs into batches.
      startupParameters: { statement_timeout: "30s", idle_in_transaction_session_timeout: "60s" }
    })
    return Contention.retrying(LostTransaction.failing(client))
  })
)

const migrateWithRetries = Effect.retry(migrate, {
  schedule: whileStarting,
  while: (error) => error._tag === "DatabaseUnreachable"
})

/** The client on an up-to-date schema. */
export const layer = Layer.effectDiscard(
  Effect.catchTag(migrate, "DatabaseUnreachable", () =>
    Effect.andThen(Effect.logWarning("The database does not answer yet; asking for 30 seconds."), migrateWithRetries)
  )
).pipe(Layer.provideMerge(layerClient))
