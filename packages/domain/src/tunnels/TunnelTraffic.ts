/** What an edge knows of a tunnel: who serves it now, what passed through, when it was up. */
import { Schema } from "effect"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { line } from "../values/Text.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { Reachability } from "./Reachability.ts"

/** Versions of agents in one report. */
export const maxVersions = 16

/** Days of several tunnels as days of all of them. */
const known = (values: ReadonlyArray<number | null>) => values.filter((value) => value !== null)
const total = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0)

const sum = (values: ReadonlyArray<number | null>) => {
  const counted = known(values)
  return counted.length === 0 ? null : Count.make(Math.min(total(counted), Number.MAX_SAFE_INTEGER))
}

const mean = (values: ReadonlyArray<number | null>) => {
  const shares = known(values)
  return shares.length === 0 ? null : Math.min(100, total(shares) / shares.length)
}

/**
 * What was counted adds up, and uptime is the mean of the tunnels that had one on that day. A day of which no tunnel knows
 * anything is not known. Oldest first.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { sumDays } from "@catenet/domain/tunnels/TunnelTraffic"
 * import { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
 * import { UnixSeconds } from "@catenet/domain/values/Numbers"
 *
 * const day = (uptime_pct: number | null, visitors: number | null) =>
 *   new TunnelDay({ start: UnixSeconds.make(0), uptime_pct, visitors, bytes_in: null, bytes_out: null })
 * assert.deepEqual(sumDays([[day(100, 1)], [day(50, 2)], [day(null, null)]]), [day(75, 3)])
 * ```
 */
export const sumDays = (tunnels: ReadonlyArray<ReadonlyArray<TunnelDay>>): ReadonlyArray<TunnelDay> =>
  Array.from(
    Map.groupBy(tunnels.flat(), ({ start }) => start),
    ([start, each]) =>
      new TunnelDay({
        start,
        uptime_pct: mean(each.map(({ uptime_pct }) => uptime_pct)),
        visitors: sum(each.map(({ visitors }) => visitors)),
        bytes_in: sum(each.map(({ bytes_in }) => bytes_in)),
        bytes_out: sum(each.map(({ bytes_out }) => bytes_out))
      })
  ).toSorted((x, y) => x.start - y.start)

/** `bytes_received` counts client to agent, `bytes_sent` agent to client. */
export class TunnelStatusReport extends Schema.Class<TunnelStatusReport>("TunnelStatusReport")({
  connected: Schema.Boolean,
  registrations: Count,
  fallback_parked: Count,
  bytes_received: Count,
  bytes_sent: Count,
  direct: Schema.Boolean,
  /** What every connected agent enforces where it ends the visitors' TLS; absent where that is nothing. */
  enforces: Schema.optionalKey(Schema.Array(line(32)).check(Schema.isMaxLength(16))),
  connected_since: Schema.NullOr(UnixSeconds),
  last_seen: Schema.NullOr(UnixSeconds),
  /** What the echo finds; an edge of before does not say. */
  reach: Schema.optionalKey(Reachability),
  /** Versions of the agents that serve it, as they give them, each once and at most 16; an edge of before leaves it out. */
  agent_versions: Schema.optionalKey(Schema.Array(line(64)).check(Schema.isMaxLength(maxVersions)))
}) {}

/** The same with the token that it is about. */
export class TokenStatusReport extends TunnelStatusReport.extend<TokenStatusReport>("TokenStatusReport")({
  token: RoutingToken
}) {}

/** Why sessions end, as edges write it; an edge of another version may know further reasons. */
export const sessionEnds = ["registration-closed", "removed", "revoked", "edge-restart", "idle-evicted"] as const
export type SessionEnd = (typeof sessionEnds)[number]

/** One unbroken streak of a tunnel being served. `bytes_in` counts client to agent. */
export class SessionRecord extends Schema.Class<SessionRecord>("SessionRecord")({
  /** In the contract's words, as an agent says it. */
  transport: Schema.String,
  /** What it is more exactly: `mux` is one connection, `slots` one for each visitor. An edge of before does not say it. */
  carrier: Schema.optionalKey(Schema.String),
  connected_at: UnixSeconds,
  disconnected_at: Schema.NullOr(UnixSeconds),
  reason: Schema.NullOr(Schema.String),
  bytes_in: Count,
  bytes_out: Count
}) {}

/** A share of a window, 0 to 100. */
export const Percent = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100 }))

/** Uptime over three windows, each in percent. */
export class UptimeShares extends Schema.Class<UptimeShares>("UptimeShares")({
  h24: Percent,
  d7: Percent,
  d30: Percent
}) {}

/**
 * One day of a tunnel, UTC. Null: before its first session, or before the edge counted by day. `visitors` counts connections
 * that were relayed to an agent.
 */
export class TunnelDay extends Schema.Class<TunnelDay>("TunnelDay")({
  start: UnixSeconds,
  uptime_pct: Schema.NullOr(Percent),
  visitors: Schema.NullOr(Count),
  bytes_in: Schema.NullOr(Count),
  bytes_out: Schema.NullOr(Count)
}) {}

/** Sums over all sessions of thirty days, and the thirty days, oldest first. Visitors are null where a part was not counted. */
export class TunnelFigures extends Schema.Class<TunnelFigures>("TunnelFigures")({
  sessions: Count,
  visitors: Schema.NullOr(Count),
  bytes_in: Count,
  bytes_out: Count,
  longest_outage_secs: Count,
  days: Schema.Array(TunnelDay)
}) {}

/** The sums of thirty days of one tunnel among many. */
export class TokenSums extends Schema.Class<TokenSums>("TokenSums")({
  token: RoutingToken,
  visitors: Schema.NullOr(Count),
  bytes_in: Count,
  bytes_out: Count
}) {}

/** A time in which the echo found that visitors did not reach the service, although a session was open. */
const Silence = Schema.Struct({ began_at: UnixSeconds, ended_at: UnixSeconds })

/**
 * `open`: a session is open now. `sessions`: newest first, at most 200. `silences`: of thirty days, newest first, at most 200; they
 * count as down. `figures` where they were asked for.
 */
export class TunnelHistory extends Schema.Class<TunnelHistory>("TunnelHistory")({
  open: Schema.Boolean,
  uptime: UptimeShares,
  sessions: Schema.Array(SessionRecord),
  silences: Schema.optionalKey(Schema.Array(Silence)),
  figures: Schema.optionalKey(TunnelFigures)
}) {}

/** The history of one tunnel among many. */
export class TokenHistory extends TunnelHistory.extend<TokenHistory>("TokenHistory")({ token: RoutingToken }) {}
