/** What several edges know of one tunnel, as one answer. Pure; each takes at least one answer. */
import { better, look, Reachability } from "@catenet/domain/tunnels/Reachability"
import {
  maxVersions,
  TokenStatusReport,
  TokenSums,
  TunnelDay,
  TunnelFigures,
  TunnelHistory,
  TunnelStatusReport,
  UptimeShares
} from "@catenet/domain/tunnels/TunnelTraffic"
import { longestOutage, reached, uptime, uptimeByDay, uptimeWindows } from "@catenet/domain/tunnels/Uptime"
import { Count, UnixSeconds } from "@catenet/domain/values/Numbers"
import { Redacted } from "effect"

/** As many silences as an edge tells one by one. */
const allSilences = 200

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

/** What the agents at all of these edges enforce. */
const enforcedIn = ([first, ...others]: ReadonlyArray<TunnelStatusReport>): ReadonlyArray<string> =>
  first?.enforces?.filter((name) => others.every(({ enforces }) => enforces?.includes(name) === true)) ?? []

const facts = (reports: ReadonlyArray<TunnelStatusReport>) => ({
  reach: reports.map(reachOf).reduce(better),
  connected: reports.some(({ connected }) => connected),
  registrations: sum(reports.map(({ registrations }) => registrations)),
  fallback_parked: sum(reports.map(({ fallback_parked }) => fallback_parked)),
  bytes_received: sum(reports.map(({ bytes_received }) => bytes_received)),
  bytes_sent: sum(reports.map(({ bytes_sent }) => bytes_sent)),
  direct: reports.some(({ direct }) => direct),
  enforces: enforcedIn(reports.filter(({ connected }) => connected)),
  connected_since: earliest(reports.map(({ connected, connected_since }) => (connected ? connected_since : null))),
  last_seen: latest(reports.map(({ last_seen }) => last_seen)),
  agent_versions: [...new Set(reports.flatMap(({ agent_versions = [] }) => agent_versions))]
    .toSorted()
    .slice(0, maxVersions)
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

/** Null where one of them does not know. */
const sumOfKnown = (counts: ReadonlyArray<number | null>): Count | null => {
  const known = counts.filter((count) => count !== null)
  return known.length < counts.length ? null : sum(known)
}

/** What passed through many tunnels, each as some edges have counted it. */
export const sums = (all: ReadonlyArray<TokenSums>): ReadonlyArray<TokenSums> =>
  Array.from(
    Map.groupBy(all, ({ token }) => Redacted.value(token)).values(),
    (each) =>
      new TokenSums({
        token: each[0]!.token,
        visitors: sumOfKnown(each.map(({ visitors }) => visitors)),
        bytes_in: sum(each.map(({ bytes_in }) => bytes_in)),
        bytes_out: sum(each.map(({ bytes_out }) => bytes_out))
      })
  )

const most = (shares: ReadonlyArray<number | null>) =>
  shares.reduce((best, share) => (best === null || (share !== null && share > best) ? share : best), null)

/** What is counted adds up where it is known; a day before the first session at one edge is none at all there. */
const day = (each: ReadonlyArray<TunnelDay>): TunnelDay => {
  const known = (of: (day: TunnelDay) => number | null) => each.flatMap((day) => of(day) ?? [])
  const added = (of: (day: TunnelDay) => number | null) => (known(of).length === 0 ? null : sum(known(of)))
  return new TunnelDay({
    start: each[0]!.start,
    uptime_pct: most(each.map(({ uptime_pct }) => uptime_pct)),
    visitors: added(({ visitors }) => visitors),
    bytes_in: added(({ bytes_in }) => bytes_in),
    bytes_out: added(({ bytes_out }) => bytes_out)
  })
}

/** What several edges served of a tunnel, each time once, where they tell all of it since `from`. */
const united = (histories: ReadonlyArray<TunnelHistory>, most: number, from: number, now: number) => {
  const isWhole = ({ sessions, silences = [] }: TunnelHistory) =>
    (sessions.length < most || (sessions.at(-1)?.connected_at ?? now) <= from) &&
    (silences.length < allSilences || (silences.at(-1)?.began_at ?? now) <= from)
  if (!histories.every(isWhole)) return undefined
  return histories.flatMap(({ sessions, silences = [] }) => reached(sessions, silences, now))
}

const firstOf = (histories: ReadonlyArray<TunnelHistory>) =>
  Math.min(...histories.flatMap(({ sessions }) => sessions.map(({ connected_at }) => connected_at)))

/** Undefined where one of the edges has no figures: an edge of before. Beyond the sessions that were given, the best counts. */
const figures = (histories: ReadonlyArray<TunnelHistory>, most: number, now: number): TunnelFigures | undefined => {
  const all = histories.flatMap(({ figures }) => figures ?? [])
  if (all.length < histories.length) return undefined
  const served = united(histories, most, now - uptimeWindows.d30, now)
  const shares = new Map(
    served === undefined
      ? []
      : uptimeByDay(served, firstOf(histories), now).map(({ share, start }) => [start, share] as const)
  )
  const days = Map.groupBy(
    all.flatMap(({ days }) => days),
    ({ start }) => start
  )
  const longest = Math.min(...all.map(({ longest_outage_secs }) => longest_outage_secs))
  return new TunnelFigures({
    sessions: sum(all.map(({ sessions }) => sessions)),
    visitors: sumOfKnown(all.map(({ visitors }) => visitors)),
    bytes_in: sum(all.map(({ bytes_in }) => bytes_in)),
    bytes_out: sum(all.map(({ bytes_out }) => bytes_out)),
    longest_outage_secs: Count.make(served === undefined ? longest : longestOutage(served, uptimeWindows.d30, now)),
    days: Array.from(days.values(), day)
      .map((each) => new TunnelDay({ ...each, uptime_pct: shares.get(each.start) ?? each.uptime_pct }))
      .toSorted((x, y) => x.start - y.start)
  })
}

/** A time counts once, also where the tunnel was at several edges. */
const share = (
  histories: ReadonlyArray<TunnelHistory>,
  window: keyof typeof uptimeWindows,
  most: number,
  now: number
) => {
  const length = uptimeWindows[window]
  const best = Math.max(...histories.map((each) => each.uptime[window]))
  const served = united(histories, most, now - length, now)
  return served === undefined ? best : (uptime(served, firstOf(histories), length, now) ?? best)
}

/** Sessions newest first. `most` is how many each edge was asked for: an edge that gave fewer gave all. */
export const history = (histories: ReadonlyArray<TunnelHistory>, most: number, now: number): TunnelHistory => {
  const served = histories.filter(({ sessions }) => sessions.length > 0)
  if (served.length <= 1) return served[0] ?? histories[0]!
  const together = figures(served, most, now)
  const [h24, d7, d30] = (["h24", "d7", "d30"] as const).map((window) => share(served, window, most, now))
  return new TunnelHistory({
    open: served.some(({ open }) => open),
    uptime: new UptimeShares({ h24: h24!, d7: d7!, d30: d30! }),
    sessions: served.flatMap(({ sessions }) => sessions).toSorted((x, y) => y.connected_at - x.connected_at),
    silences: served.flatMap(({ silences }) => silences ?? []).toSorted((x, y) => y.began_at - x.began_at),
    ...(together === undefined ? {} : { figures: together })
  })
}
