/**
 * Records what happens to the agent: one line into the ring, one into the log, one more in the count of its kind. A line is one
 * flat JSON object: the fields of its kind and the stamps `ts`, `session`, `conn` and `kind`.
 */
import { Context, Effect, Layer } from "effect"
import { AgentMetrics } from "./AgentMetrics.ts"
import { type EventKind, eventKinds, type Fields } from "./EventKind.ts"
import * as EventRing from "./EventRing.ts"

/** Marks the log entry of an event, so that the log can print the event's own line. */
export const eventAnnotation = "event"

export class Events extends Context.Service<
  Events,
  {
    record<K extends EventKind>(kind: K, fields: Fields[K]): Effect.Effect<void>
    readonly counts: () => ReadonlyMap<EventKind, number>
    readonly ring: EventRing.EventRing
  }
>()("agent/observe/Events") {
  /** Events of an agent whose state is in this folder. */
  static readonly layer = (directory: string) =>
    Layer.effect(
      Events,
      Effect.gen(function* () {
        const metrics = yield* AgentMetrics
        const ring = yield* EventRing.make(directory)
        const counts = new Map<EventKind, number>(eventKinds.map((kind) => [kind, 0]))
        return {
          record: Effect.fnUntraced(function* (kind, fields) {
            counts.set(kind, (counts.get(kind) ?? 0) + 1)
            const { id, conn } = metrics.session
            const line = JSON.stringify({ ...fields, ts: Math.floor(metrics.now() / 1000), session: id, conn, kind })
            yield* ring.append(line)
            yield* Effect.annotateLogs(Effect.logInfo(kind), eventAnnotation, line)
          }),
          counts: () => counts,
          ring
        }
      })
    )
}
