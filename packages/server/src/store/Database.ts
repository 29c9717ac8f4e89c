/**
 * The one PostgreSQL of the control plane: a pool whose statements share connections, names in snake case on the wire
 * and camel case here, and the schema brought up to date before anything else may use it.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, String as Str } from "effect"
import * as CorkedSocket from "../fastpath/CorkedSocket.ts"
import { Settings } from "../settings/Settings.ts"
import * as ConnectionLoss from "./ConnectionLoss.ts"
import { whileStarting } from "./DatabaseAvailability.ts"
import * as DatabaseTls from "./DatabaseTls.ts"
import * as Int8 from "./Int8.ts"
import { migrate } from "./Migrations.ts"
import * as Notifications from "./Notifications.ts"
import * as Pooler from "./Pooler.ts"
import * as TransactionRetry from "./TransactionRetry.ts"

const applicationName = "catenet"

const directOf = Effect.fnUntraced(function* (settings: Settings["Service"]) {
  const { databaseDirectUrl: databaseUrl } = settings
  if (databaseUrl === undefined) return
  const connecting = yield* DatabaseTls.resolve({ ...settings, databaseUrl }, "CT_CP_DATABASE_DIRECT_URL")
  return { ...connecting, applicationName, keepAlive: "1 minute" } as const
})

/** Names in snake case on the wire and camel case here, whole numbers as numbers. */
export const conventions = {
  transformQueryNames: Str.camelToSnake,
  transformResultNames: Str.snakeToCamel,
  transformJson: false,
  types: Int8.registry()
}

/** The client alone, for a database whose schema another program keeps. */
export const layerClient = PgClient.layerFrom(
  Effect.gen(function* () {
    const settings = yield* Settings
    const { ssl, url } = yield* DatabaseTls.resolve(settings)
    const direct = yield* directOf(settings)
    const connecting = { url, ssl, applicationName }
    const { isBounded, isPooled } = yield* Pooler.look(connecting)
    const client = yield* PgClient.make({
      ...connecting,
      stream: CorkedSocket.to(url),
      maxConnections: settings.databasePool,
      // Of one size: effect 4.1's pool that grows can leave its callers asleep for ever after a connection has failed.
      minConnections: settings.databasePool,
      multiplex: true,
      ...conventions,
      ...(isPooled ? { prepare: false } : { startupParameters: Pooler.timeouts })
    })
    const bounded = isPooled && !isBounded ? Pooler.bounding(client) : client
    if (isPooled || direct !== undefined) yield* Notifications.listeningBy(bounded, connecting, direct)
    return resilient(bounded)
  })
)

/** The client whose transactions fail as one when their connection is lost, and are repeated when they collide. */
export const resilient = (client: PgClient.PgClient) =>
  TransactionRetry.retryTransaction(ConnectionLoss.failing(client))

/** It may go away after the first look at it, and migrations may be begun again. */
export const migrateWithRetries = Effect.retry(migrate, {
  schedule: whileStarting,
  while: (error) => error._tag === "DatabaseUnreachable"
})

/** The client on an up-to-date schema. */
export const layer = Layer.effectDiscard(migrateWithRetries).pipe(Layer.provideMerge(layerClient))
