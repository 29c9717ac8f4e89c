/**
 * Whether a connection pooler such as PgBouncer stands before the database. It may give every transaction another session
 * of the server, so nothing of a session holds from one transaction to the next: no setting, no prepared statement, no
 * `LISTEN`. It also refuses startup parameters that it does not know.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Option, type Redacted, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { DatabaseUnreachable, isUnavailable, logWaiting, whileStarting } from "./DatabaseAvailability.ts"
import * as DatabaseRefused from "./DatabaseRefused.ts"

/** A statement that hangs must not hold locks for ever; long work belongs into batches. */
const statementLimit = "30 s"
const idleLimit = "60 s"
/** Statements here read few rows, for which compilation is not worth its time. */
export const sessionSettings = {
  statement_timeout: statementLimit,
  idle_in_transaction_session_timeout: idleLimit,
  jit: "off"
}

/** A pooler gives its clients process ids of its own. */
const lookedAt = Effect.fnUntraced(function* (config: PgConnection.Config) {
  const connection = yield* PgConnection.make(config)
  const { rows } = yield* connection.query(
    `select pg_backend_pid() as pid, current_setting('statement_timeout') <> '0'
      and current_setting('idle_in_transaction_session_timeout') <> '0' as bounded,
      current_setting('transaction_read_only') = 'on' as read_only`,
    [],
    false
  )
  const isPooled = rows[0]?.["pid"] !== connection.processId
  const transaction = Effect.andThen(connection.query("begin", [], false), connection.query("commit", [], false))
  const isByStatement = isPooled && (yield* Effect.isFailure(transaction))
  const isReadOnly = rows[0]?.["read_only"] === true
  return { isPooled, isByStatement, isReadOnly, isBounded: rows[0]?.["bounded"] === true }
}, Effect.scoped)

const byStatement =
  "The connection pooler of CT_CP_DATABASE_URL ends a connection that begins a transaction, as one in statement mode does; " +
  "set its pool_mode to transaction."

const byStandby =
  "The database of CT_CP_DATABASE_URL takes no writes: it is a standby, or default_transaction_read_only is on; " +
  "name the primary, or promote this server."

/** Waits for a database that starts; what waiting does not mend is said at once. */
export const whenItAnswers = <A, E, R>(asked: Effect.Effect<A, E, R>) => {
  const isPassing = (error: E) => isUnavailable(error) && DatabaseRefused.of(error) === undefined
  return asked.pipe(
    Effect.catchIf(isPassing, (error) =>
      Effect.andThen(logWaiting(error), Effect.retry(asked, { schedule: whileStarting, while: isPassing }))
    ),
    Effect.mapError((cause) => DatabaseRefused.of(cause) ?? new DatabaseUnreachable({ cause }))
  )
}

/** One server that answers with a connection and no more must not keep the next from being asked. */
const patience = "5 seconds"

/** A database by the URL of one server, or of several of which one takes writes. */
export interface Servers extends PgConnection.Config {
  readonly url: Redacted.Redacted
  readonly others?: ReadonlyArray<Redacted.Redacted>
}

/** What the first server that takes writes says; without one, the first that answers, else why none does. */
export const lookedAtAll = Effect.fnUntraced(function* ({ others = [], ...config }: Servers) {
  const lookAt = (url: Redacted.Redacted) => Effect.map(lookedAt({ ...config, url }), (found) => ({ ...found, url }))
  if (others.length === 0) return yield* lookAt(config.url)
  const bounded = (url: Redacted.Redacted) =>
    Effect.result(lookAt(url)).pipe(Effect.timeoutOption(patience), Effect.map(Option.getOrUndefined))
  let standby: ({ readonly url: Redacted.Redacted } & Effect.Success<ReturnType<typeof lookedAt>>) | undefined
  for (const url of [config.url, ...others]) {
    const seen = yield* bounded(url)
    if (seen === undefined || Result.isFailure(seen)) continue
    if (!seen.success.isReadOnly) return seen.success
    standby ??= seen.success
  }
  return standby ?? (yield* lookAt(config.url))
})

/** `isBounded`: whether the server, or the role, sets time limits by itself. Waits for a standby that is about to be promoted. */
export const look = Effect.fn("Pooler.look")(function* (config: Servers) {
  const asked = whenItAnswers(lookedAtAll(config))
  let found = yield* asked
  if (found.isReadOnly) {
    yield* Effect.logWarning("The database takes no writes, as a standby does; trying for 30 seconds.")
    found = yield* Effect.repeat(asked, { schedule: whileStarting, while: ({ isReadOnly }) => isReadOnly })
  }
  if (found.isReadOnly) return yield* new DatabaseRefused.DatabaseRefused({ why: byStandby })
  if (found.isByStatement) return yield* new DatabaseRefused.DatabaseRefused({ why: byStatement })
  return found
})

/** Applies the settings in each transaction. A statement of its own holds no lock beyond its end. */
export const bounding = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { transactionService, withTransaction } = client
  const [names, values] = [Object.keys(sessionSettings), Object.values(sessionSettings)]
  const bound = client`select set_config(name, value, true)
    from unnest(${names}::text[], ${values}::text[]) as limits (name, value)`
  return Object.assign(client, {
    withTransaction: <A, E, R>(transaction: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
        withTransaction(Option.isSome(outer) ? transaction : Effect.andThen(bound, transaction))
      )
  })
}
