/**
 * Whether visitors reach the service behind a tunnel, measured by an echo through edge, agent and origin: up, or which
 * of the three is silent, and since when.
 */
import { Schema } from "effect"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"

/** `connected`: an agent is there that answers no echo, so that more is not known. */
const State = Schema.Literals(["up", "connected", "origin_silent", "agent_silent", "edge_silent"])

/** What the origin did instead of answering. */
const OriginFault = Schema.Literals(["refused", "timeout", "unresolved", "unreachable", "closed", "status"])

/** How the keys of the connection between agent and edge were agreed: a TLS group in small letters. */
const KeyExchange = Schema.String.check(pattern(/^[a-z0-9]{1,32}$/u, "a TLS group in small letters"))

/**
 * `since` is null where nothing was ever seen. `origin`, `fault` and `key_exchange` are the agent's word, with the status of an HTTP
 * answer; an agent of before does not say the last.
 */
export class Reachability extends Schema.Class<Reachability>("Reachability")({
  state: State,
  since: Schema.NullOr(UnixSeconds),
  origin: Schema.NullOr(Schema.String),
  fault: Schema.NullOr(OriginFault),
  http_status: Schema.NullOr(Count),
  key_exchange: Schema.optionalKey(KeyExchange)
}) {}

type Detail = Pick<Reachability, "origin" | "fault" | "http_status" | "key_exchange">

/** What one look at the tunnel found. */
export type Sight =
  | ({ readonly _tag: "Echoed" } & Pick<Detail, "origin" | "key_exchange">)
  /** An agent is connected that was not asked, or whose answer says nothing of the origin. */
  | { readonly _tag: "Connected" }
  | ({ readonly _tag: "OriginSilent" } & Detail)
  /** An agent is connected and does not answer. */
  | { readonly _tag: "AgentSilent" }
  /** No agent is connected. `lastSeen`: when one was. */
  | { readonly _tag: "AgentGone"; readonly lastSeen: UnixSeconds | null }
  | { readonly _tag: "EdgeSilent"; readonly lastAnswer: UnixSeconds | null }

const none: Detail = { origin: null, fault: null, http_status: null }

const stateOf = (sight: Sight): Reachability["state"] => {
  switch (sight._tag) {
    case "Echoed":
      return "up"
    case "Connected":
      return "connected"
    case "OriginSilent":
      return "origin_silent"
    case "AgentSilent":
    case "AgentGone":
      return "agent_silent"
    case "EdgeSilent":
      return "edge_silent"
  }
}

const detailOf = (sight: Sight): Detail => {
  if (sight._tag !== "Echoed" && sight._tag !== "OriginSilent") return none
  const { _tag, ...detail } = sight
  return { ...none, ...detail }
}

const sinceOf = (sight: Sight, now: UnixSeconds): UnixSeconds | null => {
  if (sight._tag === "AgentGone") return sight.lastSeen
  return sight._tag === "EdgeSilent" ? sight.lastAnswer : now
}

/**
 * The state after a look. It holds since the first of the looks in a row that found it; a look that finds nothing new changes
 * nothing at all.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { look } from "@catenet/domain/tunnels/Reachability"
 * import { UnixSeconds } from "@catenet/domain/values/Numbers"
 *
 * const at = UnixSeconds.make
 * const up = look(undefined, { _tag: "Echoed", origin: "127.0.0.1:8080" }, at(100))
 * assert.equal(look(up, { _tag: "Echoed", origin: "127.0.0.1:8080" }, at(115)), up)
 * const silent = look(up, { _tag: "AgentSilent" }, at(130))
 * assert.equal(silent.state, "agent_silent")
 * assert.equal(look(silent, { _tag: "AgentGone", lastSeen: at(150) }, at(160)).since, 130)
 * ```
 */
export const look = (before: Reachability | undefined, sight: Sight, now: UnixSeconds): Reachability => {
  const state = stateOf(sight)
  const detail = detailOf(sight)
  const since = before?.state === state ? (before.since ?? sinceOf(sight, now)) : sinceOf(sight, now)
  const isSame =
    before !== undefined &&
    before.state === state &&
    before.since === since &&
    before.origin === detail.origin &&
    before.fault === detail.fault &&
    before.http_status === detail.http_status &&
    before.key_exchange === detail.key_exchange
  return isSame ? before : new Reachability({ state, since, ...detail })
}

/** From the best to the worst that can be known of a tunnel that several serve. */
const order: ReadonlyArray<Reachability["state"]> = ["up", "connected", "origin_silent", "agent_silent", "edge_silent"]

/**
 * The better of two: a visitor is given to the agent that serves. Of two that serve, the one that has served for longer; of two
 * that do not, the one that was well for longer.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { better, look } from "@catenet/domain/tunnels/Reachability"
 * import { UnixSeconds } from "@catenet/domain/values/Numbers"
 *
 * const at = UnixSeconds.make
 * const up = look(undefined, { _tag: "Echoed", origin: null }, at(100))
 * const gone = look(undefined, { _tag: "AgentGone", lastSeen: at(50) }, at(100))
 * assert.equal(better(gone, up), up)
 * assert.equal(better(gone, look(undefined, { _tag: "AgentGone", lastSeen: null }, at(100))), gone)
 * ```
 */
export const better = (one: Reachability, other: Reachability): Reachability => {
  const rank = order.indexOf(one.state) - order.indexOf(other.state)
  if (rank !== 0) return rank < 0 ? one : other
  const serves = one.state === "up" || one.state === "connected"
  const [a, b] = [one.since ?? (serves ? Infinity : -Infinity), other.since ?? (serves ? Infinity : -Infinity)]
  return (serves ? a <= b : a >= b) ? one : other
}

/**
 * What several edges report of one tunnel, and how long one of them has been silent, together: an edge that is silent may have
 * an agent of which the others know nothing. Undefined without any report.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { look, together } from "@catenet/domain/tunnels/Reachability"
 * import { UnixSeconds } from "@catenet/domain/values/Numbers"
 *
 * const at = UnixSeconds.make
 * const silent = look(undefined, { _tag: "EdgeSilent", lastAnswer: at(90) }, at(100))
 * const gone = look(undefined, { _tag: "AgentGone", lastSeen: at(50) }, at(100))
 * assert.equal(together([gone], silent), silent)
 * assert.equal(together([gone], undefined), gone)
 * ```
 */
export const together = (
  reports: ReadonlyArray<Reachability>,
  silentEdge: Reachability | undefined
): Reachability | undefined => {
  const [first, ...others] = reports
  if (first === undefined) return silentEdge
  const best = others.reduce(better, first)
  return best.state === "agent_silent" && silentEdge !== undefined ? silentEdge : best
}

/**
 * Whether an agent is there that serves, as far as is known: null where no edge says anything.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { isServed } from "@catenet/domain/tunnels/Reachability"
 *
 * assert.equal(isServed({ state: "connected" }), true)
 * assert.equal(isServed({ state: "origin_silent" }), false)
 * assert.equal(isServed({ state: "edge_silent" }), null)
 * ```
 */
export const isServed = ({ state }: Pick<Reachability, "state">): boolean | null =>
  state === "edge_silent" ? null : state === "up" || state === "connected"

/**
 * Whether the echo reached the service, as far as is known: null where it is not.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { isReached } from "@catenet/domain/tunnels/Reachability"
 *
 * assert.equal(isReached({ state: "origin_silent" }), false)
 * assert.equal(isReached({ state: "connected" }), null)
 * ```
 */
export const isReached = ({ state }: Pick<Reachability, "state">): boolean | null =>
  state === "edge_silent" || state === "connected" ? null : state === "up"
