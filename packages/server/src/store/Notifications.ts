/**
 * Receives `NOTIFY`: on a connection of the pool, on a direct connection to the server if a pooler stands between, or,
 * if neither works, by polling every second.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { PgConnection, type PgClient } from "@effect/sql-pg"
import { Effect, Queue, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import { whenItAnswers } from "./Pooler.ts"

type Listen = PgClient.PgClient["listen"]

/** What a listener takes out where nothing notifies it: anything may have changed. */
export const anything = ""

const polling: Listen = (channel) =>
  Effect.gen(function* () {
    const queue = yield* Queue.sliding<PgConnection.Notification, SqlError.SqlError>(1)
    const tick = Effect.sync(() => Queue.offerUnsafe(queue, { processId: 0, channel, payload: anything }))
    yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced("1 second")))
    return queue
  })

const listening =
  (config: PgConnection.Config): Listen =>
  (channel) =>
    Effect.flatMap(PgConnection.make(config), (connection) => connection.listen(channel))

/** Whether what the pool notifies arrives there. */
const arrives = Effect.fnUntraced(function* (client: PgClient.PgClient, config: PgConnection.Config) {
  const channel = "catenet_start"
  const connection = yield* PgConnection.make(config)
  const signals = yield* connection.listen(channel)
  const own = String(connection.processId)
  yield* client.notify(channel, own)
  const received = Queue.take(signals).pipe(Effect.repeat({ while: ({ payload }) => payload !== own }))
  return (yield* Effect.timeoutOption(received, "1 second"))._tag === "Some"
}, Effect.scoped)

const variable = "CT_CP_DATABASE_DIRECT_URL"

/** The client with the way of listening that works. `pooled` is the way through the pooler, `direct` the one that is named. */
export const listeningBy = Effect.fnUntraced(function* (
  client: PgClient.PgClient,
  pooled: PgConnection.Config,
  direct: PgConnection.Config | undefined
) {
  // A pooler in session mode keeps a session for us.
  const config = direct ?? pooled
  const works = yield* whenItAnswers(arrives(client, config)).pipe(
    Effect.catchIf(
      () => direct !== undefined,
      ({ message }) => {
        const why = message.replaceAll("CT_CP_DATABASE_URL", variable).replace(/\.$/u, "")
        return ConfigurationInvalid.of(variable, `cannot be used: ${why}`)
      }
    )
  )
  if (!works && direct !== undefined)
    return yield* ConfigurationInvalid.of(
      variable,
      "does not bring what CT_CP_DATABASE_URL notifies",
      "name the same database at the server itself, not through a pooler"
    )
  if (!works)
    yield* Effect.logWarning(
      "CT_CP_DATABASE_URL goes through a connection pooler, so changes are polled every second; " +
        `name the server itself by ${variable}.`
    )
  return Object.assign(client, { listen: works ? listening(config) : polling })
})
