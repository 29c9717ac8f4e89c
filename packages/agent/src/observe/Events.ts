/**
 * Records the agent's events in the ring, the log and the counters. An event is one flat JSON object: its fields, and `ts`,
 * `session`, `conn` and `kind`.
 */
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Context, Effect, Layer } from "effect"
import { AgentMetrics } from "./AgentMetrics.ts"
import * as EventRing from "./EventRing.ts"

// The twelve kinds of events, in the order of `/metrics`, and the fields of each.

/** The fields of every kind besides its stamps. */
interface Fields {
  readonly registered: {
    readonly edge: string
    readonly transport: string
    readonly carrier: string
    readonly hostname_bound: boolean
  }
  readonly registration_failed: { readonly error: string }
  readonly disconnected: { readonly reason: string }
  readonly transport_switch: { readonly from: string; readonly to: string }
  readonly fallback_exhausted: {}
  readonly direct_refused: { readonly reason: string }
  readonly channel_session: { readonly state: "open" | "close"; readonly peer: string }
  readonly bridge_call: { readonly tool: string; readonly ok: boolean }
  readonly manifest_install: { readonly status: "ok" | "rejected" | "failed" }
  readonly update_check: { readonly result: string }
  readonly update_applied: { readonly version: string }
  readonly credential_degraded: {}
}

export type EventKind = keyof Fields

export const eventKinds = [
  "registered",
  "registration_failed",
  "disconnected",
  "transport_switch",
  "fallback_exhausted",
  "direct_refused",
  "channel_session",
  "bridge_call",
  "manifest_install",
  "update_check",
  "update_applied",
  "credential_degraded"
] as const satisfies ReadonlyArray<EventKind>

/** Marks an event's log entry, so that the log prints the event's own line. */
export const eventAnnotation = "event"

export class Events extends Context.Service<
  Events,
  {
    record<K extends EventKind>(kind: K, fields: Fields[K]): Effect.Effect<void>
    readonly counts: () => Map<EventKind, number>
    readonly ring: EventRing.EventRing
  }
>()("agent/observe/Events") {
  /** Events of an agent with this state folder. */
  static readonly layer = (directory: string) =>
    Layer.effect(
      Events,
      Effect.flatMap(EventRing.make(directory), (ring) =>
        Events.on(ring, new Map<EventKind, number>(eventKinds.map((kind) => [kind, 0])))
      )
    )

  /** Events of one service of the agent that `agent` belongs to: in its ring and counters, with the service's name. */
  static readonly ofService = (agent: Events["Service"], service: string) =>
    Events.on(agent.ring, agent.counts(), service)

  static readonly on = (ring: EventRing.EventRing, counts: Map<EventKind, number>, service?: string) =>
    Effect.map(AgentMetrics, (metrics): Events["Service"] => ({
      record: Effect.fnUntraced(function* (kind, fields) {
        counts.set(kind, (counts.get(kind) ?? 0) + 1)
        const { id, conn } = metrics.session
        const own = { ...fields, ...(service === undefined ? {} : { service }) }
        const line = JSON.stringify({ ...own, ts: toUnixSeconds(metrics.now()), session: id, conn, kind })
        yield* ring.append(line)
        yield* Effect.annotateLogs(Effect.logInfo(kind), eventAnnotation, line)
      }),
      counts: () => counts,
      ring
    }))
}
