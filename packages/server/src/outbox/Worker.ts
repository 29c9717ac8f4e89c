/**
 * Delivers the outbox in the background: when a transaction that wrote to it commits, on whichever replica, and on a
 * timer for what has to be repeated.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue, Schedule } from "effect"
import { Settings } from "../Settings.ts"
import { Outbox } from "./Outbox.ts"

const work = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const outbox = yield* Outbox
  const { outboxIntervalSeconds } = yield* Settings
  const signals = yield* sql.listen("outbox")
  yield* Effect.gen(function* () {
    yield* outbox.deliverAll
    yield* Queue.takeAll(signals).pipe(Effect.timeoutOption(`${outboxIntervalSeconds} seconds`))
  }).pipe(Effect.forever)
}).pipe(
  Effect.scoped,
  Effect.tapCause((cause) => Effect.logWarning("The outbox could not be delivered and is tried again.", cause)),
  Effect.retry(Schedule.spaced("1 second"))
)

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work))
