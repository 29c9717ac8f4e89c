/**
 * The dead-man alert of one tunnel: when an outage and its end are reported. What cannot be observed is never reported
 * as down: an edge that does not answer changes nothing.
 */
import type { UnixSeconds } from "../values/Numbers.ts"
import { type Step } from "../values/Step.ts"
import type { AlertEvent } from "./Alert.ts"

/**
 * `since`: start of the state; for `Down` the start of the outage. `skipped`: the report that the delivery
 * budget held back, so that one streak is logged once.
 */
export type Watch =
  | { readonly _tag: "Unknown"; readonly since: UnixSeconds; readonly skipped: AlertEvent | null }
  | {
      readonly _tag: "Up"
      readonly since: UnixSeconds
      readonly lastSeenUp: UnixSeconds
      readonly skipped: AlertEvent | null
    }
  | { readonly _tag: "Down"; readonly since: UnixSeconds; readonly skipped: AlertEvent | null }

/** Answers of the edge: its tunnel status, and its session history. Null where it did not answer. */
export interface Evidence {
  /** What the echo through agent and origin finds; null where no agent answers one. */
  readonly reached?: boolean | null
  readonly connected: boolean | null
  readonly sessionOpen: boolean | null
}

/** One look at the tunnel. `mayDeliver`: the account's delivery budget is not spent. */
export interface Observation {
  readonly evidence: Evidence
  readonly thresholdSeconds: number
  readonly mayDeliver: boolean
}

/** `Deliver` carries the `since` of the message; `LogSkipped` is one row in the delivery log. */
export type AlertEffect =
  | { readonly _tag: "Deliver"; readonly event: AlertEvent; readonly since: UnixSeconds }
  | { readonly _tag: "LogSkipped"; readonly event: AlertEvent }

/**
 * What the answers of the edge mean: either of them suffices for `up`, unless the echo of a connected agent finds that its origin
 * is down; without any answer there is no evidence.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { observed } from "@catenet/domain/tunnels/Outage"
 *
 * assert.equal(observed({ connected: false, sessionOpen: true }), "up")
 * assert.equal(observed({ connected: true, sessionOpen: true, reached: false }), "absent")
 * assert.equal(observed({ connected: null, sessionOpen: false }), "absent")
 * assert.equal(observed({ connected: null, sessionOpen: null }), "silent")
 * ```
 */
export const observed = ({ connected, reached, sessionOpen }: Evidence): "up" | "absent" | "silent" => {
  if (connected === true && reached === false) return "absent"
  if (connected === true || sessionOpen === true) return "up"
  return connected === null && sessionOpen === null ? "silent" : "absent"
}

type Answer = Step<Watch, AlertEffect>

const quiet = (watch: Watch): Answer => ({
  next: watch.skipped === null ? watch : { ...watch, skipped: null },
  effects: []
})

/** Delivers and moves on; without budget the state stays, and the same report is due again at the next look. */
const report = (watch: Watch, event: AlertEvent, next: Watch, mayDeliver: boolean): Answer => {
  if (mayDeliver) return { next, effects: [{ _tag: "Deliver", event, since: next.since }] }
  if (watch.skipped === event) return { next: watch, effects: [] }
  return { next: { ...watch, skipped: event }, effects: [{ _tag: "LogSkipped", event }] }
}

/**
 * The machine. Down is reported once, when nothing was seen of the tunnel for the threshold; up once, on its return. The
 * next state is stored even when the delivery then fails, so that a broken receiver is not called every minute.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { look, type Watch } from "@catenet/domain/tunnels/Outage"
 *
 * const up: Watch = { _tag: "Up", since: 0, lastSeenUp: 1000, skipped: null }
 * const gone = { evidence: { connected: false, sessionOpen: false }, thresholdSeconds: 300, mayDeliver: true }
 * assert.deepEqual(look(up, gone, 1299).effects, [])
 * assert.deepEqual(look(up, gone, 1300).effects, [{ _tag: "Deliver", event: "tunnel.down", since: 1000 }])
 * ```
 */
export const look = (
  watch: Watch,
  { evidence, mayDeliver, thresholdSeconds }: Observation,
  now: UnixSeconds
): Answer => {
  const seen = observed(evidence)
  if (seen === "silent") return { next: watch, effects: [] }
  if (seen === "up") {
    const up: Watch = { _tag: "Up", since: watch._tag === "Up" ? watch.since : now, lastSeenUp: now, skipped: null }
    return watch._tag === "Down" ? report(watch, "tunnel.up", up, mayDeliver) : { next: up, effects: [] }
  }
  if (watch._tag === "Down") return quiet(watch)
  const reference = watch._tag === "Up" ? watch.lastSeenUp : watch.since
  if (now - reference < thresholdSeconds) return quiet(watch)
  return report(watch, "tunnel.down", { _tag: "Down", since: reference, skipped: null }, mayDeliver)
}
