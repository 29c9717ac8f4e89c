/**
 * Delivers the outbox in the background: when a transaction that wrote to it commits, on whichever replica, and on a
 * timer for what has to be repeated. A replica that cannot call edges leaves it to the others.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue } from "effect"
import { retryForever } from "../runtime/RetryForever.ts"
import { Settings } from "../settings/Settings.ts"
import { LiveEdges } from "./LiveEdges.ts"
import { Outbox } from "./Outbox.ts"

const work = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const outbox = yield* Outbox
  const edges = yield* LiveEdges
  const { outboxIntervalSeconds } = yield* Settings
  if (!edges.canDeliver) return yield* Effect.never
  const configured = yield* Effect.cachedWithTTL(edges.configure, "30 seconds")
  const signals = yield* sql.listen("outbox")
  return yield* Effect.gen(function* () {
    yield* configured
    yield* outbox.deliverAll
    yield* Queue.takeAll(signals).pipe(Effect.timeoutOption(`${outboxIntervalSeconds} seconds`))
  }).pipe(Effect.forever)
}).pipe(Effect.scoped, retryForever("Delivering the outbox"))

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work)).pipe(Layer.provide([LiveEdges.layer, Outbox.layer]))
