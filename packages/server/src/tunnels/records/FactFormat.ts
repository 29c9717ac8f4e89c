/** The figures of a tunnel from what the edge knows of it. Pure; an edge that is silent gives no figure at all. */
import type { UptimeShares } from "@catenet/domain/tunnels/TunnelTraffic"
import { longestOutage, totals, uptimeWindows } from "@catenet/domain/tunnels/Uptime"
import { UptimeReport } from "@catenet/domain/tunnels/Usage"
import type { History } from "../../edges/EdgeFacts.ts"

/** Most sessions that an edge tells, and a page shows. */
export const mostSessions = 200

const count = (sum: bigint) => Number(sum > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : sum)

/** Uptime as the edge has it; null without a history, or for a tunnel that was never served. */
export const shares = (known: History): UptimeShares | null =>
  known._tag === "Known" && known.history.sessions.length > 0 ? known.history.uptime : null

/** What passed in 30 days; all null when the edge has nothing to tell. */
export const usage = (known: History, now: number) => {
  if (known._tag !== "Known") {
    return { uptime_30d_pct: null, sessions_30d: null, bytes_in_30d: null, bytes_out_30d: null }
  }
  const { bytes_in, bytes_out, sessions } = totals(known.history.sessions, uptimeWindows.d30, now)
  return {
    uptime_30d_pct: shares(known)?.d30 ?? null,
    sessions_30d: sessions,
    bytes_in_30d: count(bytes_in),
    bytes_out_30d: count(bytes_out)
  }
}

export const report = (known: History, now: number): UptimeReport => {
  const { bytes_in_30d, bytes_out_30d, sessions_30d } = usage(known, now)
  const sessions = known._tag === "Known" ? known.history.sessions.slice(0, mostSessions) : []
  return new UptimeReport({
    edge_silent: known._tag === "Silent",
    silent_edges: known.silent,
    open: known._tag === "Known" ? known.history.open : null,
    uptime: shares(known),
    longest_outage_30d_secs: sessions.length === 0 ? null : longestOutage(sessions, uptimeWindows.d30, now),
    sessions_30d,
    bytes_in_30d,
    bytes_out_30d,
    sessions
  })
}
