/** Sends each order to the workers of this edge. An order is in force when every worker has executed it. */
import { Context, Effect, Layer } from "effect"
import type { RouteOrder } from "./RouteOrder.ts"

/** Sends the order at once. The effect ends when the order is in force in the worker, or when the worker has ended. */
type Send = (order: RouteOrder) => Effect.Effect<void>

export class WorkerBroadcast extends Context.Service<
  WorkerBroadcast,
  {
    /** Sends the order to all workers at the call; the effect waits for them. */
    readonly send: Send
    /** Whether this edge has no workers. */
    readonly isEmpty: () => boolean
    /** The worker gets every later order in sequence. Returns a function that unsubscribes. */
    readonly subscribe: (worker: Send) => () => void
  }
>()("edge/routes/WorkerBroadcast") {
  static readonly make = Effect.sync(() => {
    const workers = new Set<Send>()
    return WorkerBroadcast.of({
      send: (order) => {
        if (workers.size === 0) return Effect.void
        const sent = Array.from(workers, (send) => send(order))
        return Effect.all(sent, { concurrency: "unbounded", discard: true })
      },
      isEmpty: () => workers.size === 0,
      subscribe: (worker) => {
        workers.add(worker)
        return () => workers.delete(worker)
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make)
}
