/**
 * Calls to edges that must not get lost. They are written in the transaction of the command that causes them and
 * delivered until acknowledged, by any replica, in order for one tunnel. What an edge refuses for good is kept, marked,
 * and no longer stands in the way.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { RoutingToken } from "@catenet/domain/Tokens"
import { EdgeAdmin, EdgeUnreachable, type EdgeRefused } from "../edges/EdgeAdmin.ts"
import { unixSeconds } from "../Now.ts"
import type { EdgeCall } from "./EdgeCall.ts"
import { asDefects } from "../store/Defects.ts"
import * as Store from "./Store.ts"

/** Rows that the caller will deliver itself by `deliver`, in the order in which they were written. */
export interface Receipt {
  readonly queue: RoutingToken
  readonly ids: ReadonlyArray<number>
}

/** Seconds that a writer has for delivering its own rows before others may. */
const ownSeconds = 15

const longestWait = 60
const backOff = (attempts: number) => Math.min(2 ** Math.min(attempts, 10) / 2, longestWait)

const make = Effect.gen(function* () {
  const edge = yield* EdgeAdmin
  const store = yield* Store.make

  const write = Effect.fnUntraced(function* (queue: RoutingToken, calls: ReadonlyArray<EdgeCall>, own: boolean) {
    if (!edge.configured) return { queue, ids: [] }
    const now = yield* unixSeconds
    const leasedUntil = own ? now + ownSeconds : 0
    const rows = yield* Effect.forEach(calls, (call) => store.insert({ queue, call, now, leasedUntil }))
    yield* store.notify
    return { queue, ids: rows.map(({ id }) => id) }
  })

  const attempt = Effect.fnUntraced(function* (row: Store.Leased) {
    yield* edge.perform(row.queue, row.call).pipe(
      Effect.tapErrorTag("EdgeUnreachable", () =>
        Effect.flatMap(unixSeconds, (now) => store.postpone(row.id, now + backOff(row.attempts)))
      ),
      Effect.tapErrorTag("EdgeRefused", ({ why }) =>
        Effect.flatMap(unixSeconds, (now) => store.refuse(row.id, now, why))
      )
    )
    yield* store.acknowledge(row.id)
  })

  /** Delivers the queue up to the caller's last row; another replica may be at work on an earlier one. */
  const drain = ({ queue, ids }: Receipt): Effect.Effect<void, EdgeUnreachable | EdgeRefused> =>
    Effect.gen(function* () {
      const now = yield* unixSeconds
      const next = yield* store.leaseFirst({ now, queue, own: ids })
      if (Option.isSome(next)) {
        const outcome = attempt(next.value)
        yield* ids.includes(next.value.id) ? outcome : Effect.catchTag(outcome, "EdgeRefused", () => Effect.void)
      } else {
        yield* Effect.sleep("100 millis")
      }
      const { remaining } = yield* store.remaining(ids)
      return remaining > 0
    }).pipe(Effect.repeat({ while: (more) => more }), Effect.asVoid, asDefects)

  const deliverDue = Effect.gen(function* () {
    const rows = yield* store.leaseDue({ now: yield* unixSeconds, limit: 64 })
    yield* Effect.forEach(
      rows,
      (row) =>
        attempt(row).pipe(
          Effect.catchTag("EdgeUnreachable", (error) => Effect.logWarning(error.message, { attempt: row.attempts })),
          Effect.catchTag("EdgeRefused", (error) => Effect.logError(error.message, { call: row.call._tag }))
        ),
      { concurrency: 16, discard: true }
    )
    return rows.length
  })

  return {
    /** Whether there is an edge to deliver to. Without one nothing is written. */
    configured: edge.configured,
    /** Writes calls in the current transaction; any replica delivers them. */
    append: (queue: RoutingToken, ...calls: ReadonlyArray<EdgeCall>) => Effect.asVoid(write(queue, calls, false)),
    /** Writes calls in the current transaction that the caller delivers itself after it, to learn how that went. */
    appendOwn: (queue: RoutingToken, ...calls: ReadonlyArray<EdgeCall>): ReturnType<typeof write> =>
      write(queue, calls, true),
    /** Delivers now. What could not be delivered stays and is repeated by the worker. */
    deliver: (receipt: Receipt) =>
      receipt.ids.length === 0
        ? Effect.void
        : drain(receipt).pipe(
            Effect.timeoutOrElse({
              duration: "10 seconds",
              orElse: () => Effect.fail(new EdgeUnreachable({ why: "an earlier call has not been delivered yet" }))
            })
          ),
    /** Delivers everything that is due, and what becomes due by that. */
    deliverAll: deliverDue.pipe(Effect.repeat({ while: (count) => count > 0 }), Effect.asVoid)
  }
})

export class Outbox extends Context.Service<Outbox, Effect.Success<typeof make>>()("server/Outbox") {
  static readonly layer = Layer.effect(Outbox, make)
}
