/** What several edges know of one tunnel, as one answer. Pure; each takes at least one answer. */
import { better, look, Reachability } from "@catenet/domain/tunnels/Reachability"
import {
  TokenStatusReport,
  TunnelHistory,
  TunnelStatusReport,
  UptimeShares
} from "@catenet/domain/tunnels/TunnelTraffic"
import { uptime, uptimeWindows } from "@catenet/domain/tunnels/Uptime"
import { Count, UnixSeconds } from "@catenet/domain/values/Numbers"
import { Redacted } from "effect"

const present = (times: ReadonlyArray<UnixSeconds | null>) => times.filter((time) => time !== null)

const earliest = (times: ReadonlyArray<UnixSeconds | null>) =>
  present(times).reduce<UnixSeconds | null>((least, time) => (least === null || time < least ? time : least), null)

const latest = (times: ReadonlyArray<UnixSeconds | null>) =>
  present(times).reduce<UnixSeconds | null>((most, time) => (most === null || time > most ? time : most), null)

const sum = (counts: ReadonlyArray<number>) => Count.make(counts.reduce((total, count) => total + count, 0))

/** An edge of before says no more than whether an agent is connected. */
const reachOf = ({ connected, connected_since, last_seen, reach }: TunnelStatusReport): Reachability =>
  reach ??
  (connected
    ? new Reachability({ ...look(undefined, { _tag: "Connected" }, UnixSeconds.make(0)), since: connected_since })
    : look(undefined, { _tag: "AgentGone", lastSeen: last_seen }, UnixSeconds.make(0)))

const facts = (reports: ReadonlyArray<TunnelStatusReport>) => ({
  reach: reports.map(reachOf).reduce(better),
  connected: reports.some(({ connected }) => connected),
  registrations: sum(reports.map(({ registrations }) => registrations)),
  fallback_parked: sum(reports.map(({ fallback_parked }) => fallback_parked)),
  bytes_received: sum(reports.map(({ bytes_received }) => bytes_received)),
  bytes_sent: sum(reports.map(({ bytes_sent }) => bytes_sent)),
  direct: reports.some(({ direct }) => direct),
  connected_since: earliest(reports.map(({ connected, connected_since }) => (connected ? connected_since : null))),
  last_seen: latest(reports.map(({ last_seen }) => last_seen))
})

/** Connected where one edge has it connected, since the longest of these connections. */
export const status = (reports: ReadonlyArray<TunnelStatusReport>): TunnelStatusReport =>
  new TunnelStatusReport(facts(reports))

/** The same for many tunnels, each as some edges report it. */
export const statuses = (reports: ReadonlyArray<TokenStatusReport>): ReadonlyArray<TokenStatusReport> =>
  Array.from(
    Map.groupBy(reports, ({ token }) => Redacted.value(token)).values(),
    (each) => new TokenStatusReport({ ...facts(each), token: each[0]!.token })
  )

/** A time counts once, also where the tunnel was at several edges. Beyond the sessions that were given, the best share counts. */
const share = (
  histories: ReadonlyArray<TunnelHistory>,
  window: keyof typeof uptimeWindows,
  most: number,
  now: number
) => {
  const length = uptimeWindows[window]
  const best = Math.max(...histories.map((each) => each.uptime[window]))
  const isWhole = ({ sessions }: TunnelHistory) =>
    sessions.length < most || (sessions.at(-1)?.connected_at ?? now) <= now - length
  if (!histories.every(isWhole)) return best
  const sessions = histories.flatMap((each) => each.sessions)
  const first = Math.min(...sessions.map(({ connected_at }) => connected_at))
  return uptime(sessions, first, length, now) ?? best
}

/** Sessions newest first. `most` is how many each edge was asked for: an edge that gave fewer gave all. */
export const history = (histories: ReadonlyArray<TunnelHistory>, most: number, now: number): TunnelHistory => {
  const served = histories.filter(({ sessions }) => sessions.length > 0)
  if (served.length <= 1) return served[0] ?? histories[0]!
  const [h24, d7, d30] = (["h24", "d7", "d30"] as const).map((window) => share(served, window, most, now))
  return new TunnelHistory({
    open: served.some(({ open }) => open),
    uptime: new UptimeShares({ h24: h24!, d7: d7!, d30: d30! }),
    sessions: served.flatMap(({ sessions }) => sessions).toSorted((x, y) => y.connected_at - x.connected_at)
  })
}
