/**
 * The one PostgreSQL of the control plane: a pool whose statements share connections, names in snake case on the wire
 * and camel case here, and the schema brought up to date before anything else may use it.
 */
import { PgClient } from "@effect/sql-pg"
import { type Cause, Effect, Layer, Option, Predicate, String as Str } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { Settings } from "../settings/Settings.ts"
import { isUnavailable, whileStarting } from "./DatabaseAvailability.ts"
import * as DatabaseServers from "./DatabaseServers.ts"
import * as DatabaseTls from "./DatabaseTls.ts"
import * as Int8 from "./Int8.ts"
import { migrate } from "./Migrations.ts"
import * as Notifications from "./Notifications.ts"
import * as Pooler from "./Pooler.ts"

/**
 * A transaction that another one has been in the way of has changed nothing and is made again, whole. Either the database has
 * given it up because the two waited for each other (a deadlock, or a serialization failure), or it has written a row about
 * another that was removed since it was looked at (a foreign key), and the next look says that it is gone. The order of locks
 * is: the account, its tunnels, host names, the set of edges, the queue of a token. A retry is for what no order covers;
 * deadlocks are logged, so that a pair that does not keep the order is found.
 */
const most = 3
const deadlocks = new Set(["DeadlockError", "SerializationError"])
/** SQLSTATE of PostgreSQL, appendix A. */
const foreignKeyViolation = "23503"

type Collision = "deadlock" | "removed" | undefined

const collisionOf = (error: unknown): Collision => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "reason")) return undefined
  const { reason } = error
  if (Predicate.hasProperty(reason, "_tag") && deadlocks.has(String(reason._tag))) return "deadlock"
  const cause = Predicate.hasProperty(reason, "cause") ? reason.cause : undefined
  return Predicate.hasProperty(cause, "code") && cause.code === foreignKeyViolation ? "removed" : undefined
}

/** Services make the failures of their statements defects. */
const collisionIn = ({ reasons }: Cause.Cause<unknown>): Collision => {
  for (const reason of reasons) {
    const found = collisionOf(reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same client, before anything else uses it. Only a whole transaction is made again, never one inside another. */
const retryTransaction = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { transactionService, withTransaction } = client
  const attempt = <A, E, R>(
    transaction: Effect.Effect<A, E, R>,
    before: number
  ): ReturnType<typeof withTransaction<R, E, A>> =>
    Effect.catchCause(withTransaction(transaction), (cause) => {
      const collision = before < most ? collisionIn(cause) : undefined
      if (collision === undefined) return Effect.failCause(cause)
      const logged =
        collision === "deadlock"
          ? Effect.logWarning("A transaction was the victim of a deadlock; trying it again.", cause)
          : Effect.void
      return logged.pipe(
        Effect.andThen(Effect.sleep(10 * 2 ** before)),
        Effect.andThen(attempt(transaction, before + 1))
      )
    })
  return Object.assign(client, {
    withTransaction: <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
        Option.isSome(outer) ? withTransaction(transaction) : attempt(transaction, 0)
      )
  })
}

/**
 * A transaction whose connection is lost fails with the `SqlError` that says so. The driver cannot roll it back either and
 * makes that a defect, which would end what only handles a failed statement.
 */
const isLost = (defect: unknown): defect is SqlError.SqlError =>
  Predicate.isTagged(defect, "SqlError") && isUnavailable(defect)

/** The same client, before anything else uses it. */
const failing = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { withTransaction } = client
  return Object.assign(client, {
    withTransaction: <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
      Effect.catchDefect(withTransaction(transaction), (defect) =>
        isLost(defect) ? Effect.fail(defect) : Effect.die(defect)
      )
  })
}

const applicationName = "catenet"

const directOf = Effect.fnUntraced(function* (settings: Settings["Service"]) {
  const { databaseDirectUrl: databaseUrl } = settings
  if (databaseUrl === undefined) return
  const { others, ssl, url } = yield* DatabaseTls.resolve({ ...settings, databaseUrl }, "CT_CP_DATABASE_DIRECT_URL")
  const connecting = { url, ssl, applicationName, keepAlive: "1 minute" } as const
  if (others.length === 0) return connecting
  const { url: first } = yield* Pooler.look({ ...connecting, others })
  return { ...connecting, stream: (yield* DatabaseServers.make({ ...connecting, others }, first)).stream }
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
    const { others, ssl, url } = yield* DatabaseTls.resolve(settings)
    const direct = yield* directOf(settings)
    const connecting = { url, ssl, applicationName }
    const { isBounded, isPooled, url: first } = yield* Pooler.look({ ...connecting, others })
    const { stream, watch } = yield* DatabaseServers.make({ ...connecting, others }, first)
    const client = yield* PgClient.make({
      ...connecting,
      stream,
      maxConnections: settings.databasePool,
      // Of one size: effect 4.1's pool that grows can leave its callers asleep for ever after a connection has failed.
      minConnections: settings.databasePool,
      multiplex: true,
      ...conventions,
      ...(isPooled ? { prepare: false } : { startupParameters: Pooler.sessionSettings })
    })
    const bounded = isPooled && !isBounded ? Pooler.bounding(client) : client
    if (isPooled || direct !== undefined) yield* Notifications.listeningBy(bounded, { ...connecting, stream }, direct)
    yield* watch(bounded)
    return resilient(bounded)
  })
)

/** The client whose transactions fail as one when their connection is lost, and are repeated when they collide. */
export const resilient = (client: PgClient.PgClient) => retryTransaction(failing(client))

/** It may go away after the first look at it, and migrations may be begun again. */
export const migrateWithRetries = Effect.retry(migrate, {
  schedule: whileStarting,
  while: (error) => error._tag === "DatabaseUnreachable"
})

/** The client on an up-to-date schema. */
export const layer = Layer.effectDiscard(migrateWithRetries).pipe(Layer.provideMerge(layerClient))
