/**
 * Uptime, usage and the fleet. Edges hold the figures; while all are silent the figures are unknown, and while some are
 * silent these are named. No agent is contacted.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelPresence } from "@catenet/domain/api/EdgeAdminApi"
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import {
  type SessionRecord,
  sumDays,
  type TokenStatusReport,
  type TokenSums,
  type TunnelDay
} from "@catenet/domain/tunnels/TunnelTraffic"
import { FleetRow, type UptimeReport, usageCsv, UsageRow } from "@catenet/domain/tunnels/Usage"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type Answer, anyOf, EdgeFacts, type History, reachOf } from "../../edges/EdgeFacts.ts"
import { type Page, paged } from "../../http/Paging.ts"
import { over } from "../../runtime/Over.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { Tunnels } from "../Tunnels.ts"
import * as Figures from "./RecordStore.ts"
import { type Owned, After, RecordStore } from "./RecordStore.ts"

/** What an agent said it lacks, from its answer to the bridge. Pure. */
type Readiness = Readonly<Record<string, unknown>>

const isMissing = (value: unknown) => value === false || value === "none"

const isGap = (key: string, value: unknown) =>
  key.endsWith("_disabled")
    ? value === true
    : (key.endsWith("_configured") || key.endsWith("_available") || key === "oidc_credential") && isMissing(value)

/** Names of what is missing or switched off, sorted; none where nothing was probed. */
const gaps = (readiness: Readiness | null): ReadonlyArray<string> =>
  readiness === null
    ? []
    : Object.entries(readiness)
        .filter(([key, value]) => isGap(key, value))
        .map(([key]) => key)
        .sort()

type Account = Caller["Service"]

/** `days`: the thirty days of all tunnels together; none where no edge tells them. */
export interface ByDay<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly days: ReadonlyArray<TunnelDay>
}

/** What the edges say of one tunnel. */
interface Known {
  readonly tunnel: Owned
  readonly history: History
  readonly online: boolean | null
  readonly reach: Reachability
  readonly versions: ReadonlyArray<string>
}

const byToken = ({ known }: Answer<ReadonlyArray<TokenStatusReport>>) =>
  new Map(Option.getOrElse(known, () => []).map((report) => [Redacted.value(report.token), report]))

const dependencies = Effect.gen(function* () {
  const store = yield* RecordStore
  const tunnels = yield* Tunnels
  const edge = yield* EdgeFacts
  return { edge, store, tunnels }
})
type State = Effect.Success<typeof dependencies>

const owned = ({ store }: State, { subject }: Account, page: Page) =>
  paged(
    page,
    After,
    (slice) => store.list({ subject, ...slice }),
    ({ createdAt, id }) => ({ createdAt, id })
  )

/**
 * Each tunnel with whether it is served and with its history. Whether they are served is asked first, so that an edge
 * that is away costs one short wait.
 */
const known = Effect.fnUntraced(function* ({ edge }: State, found: ReadonlyArray<Owned>, figures?: "figures") {
  const tokens = found.map(({ routingToken }) => routingToken)
  const statuses = yield* edge.statuses(tokens)
  const reports = byToken(statuses)
  const silent: History = { _tag: "Silent", silent: statuses.silent }
  const historyOf = Option.isNone(statuses.known) ? () => silent : yield* edge.histories(tokens, figures)
  return found.map((tunnel) => {
    const report = reports.get(Redacted.value(tunnel.routingToken))
    const online = anyOf(statuses, () => report?.connected === true)
    return {
      tunnel,
      history: historyOf(tunnel.routingToken),
      online,
      reach: reachOf(statuses, report),
      versions: report?.agent_versions ?? []
    }
  })
})

const daysOf = (all: ReadonlyArray<{ readonly history: History }>) =>
  sumDays(all.map(({ history }) => Figures.days(history)))

const usageByDay = Effect.fnUntraced(function* (state: State, account: Account, page: Page) {
  const now = yield* unixSeconds
  const all = yield* known(state, yield* owned(state, account, page), "figures")
  const rows = all.map(
    ({ history, tunnel: { hostname, id, name } }) =>
      new UsageRow({ ...Figures.usage(history, now), id, tunnel: name, hostname, silent_edges: history.silent })
  )
  return { rows, days: daysOf(all) }
})

const rows = (state: State, account: Account, page: Page) =>
  Effect.map(usageByDay(state, account, page), ({ rows }) => rows)

/** Seconds since a member was on the bridge's channel; null when none was, or no edge says it. */
const lastSeen = (holders: ReadonlyArray<ChannelPresence>) => {
  const ages = holders.map(({ last_seen_secs_ago }) => last_seen_secs_ago)
  return ages.length === 0 ? null : Math.min(...ages)
}

/** An edge of before calls the one connection `mux` as a transport. */
const carriedBy = (session: SessionRecord | undefined) =>
  session === undefined
    ? { transport: null, carrier: null }
    : {
        transport: session.transport === "mux" ? "tcp-fallback" : session.transport,
        carrier: session.carrier ?? session.transport
      }

const fleetRow = ({ history, online, reach, tunnel, versions }: Known, holders: ReadonlyArray<ChannelPresence>) =>
  new FleetRow({
    id: tunnel.id,
    tunnel: tunnel.name,
    hostname: tunnel.hostname,
    online,
    reach,
    ...carriedBy(history._tag === "Known" ? history.history.sessions[0] : undefined),
    uptime_7d_pct: Figures.shares(history)?.d7 ?? null,
    bridge_mode: tunnel.bridgeMode,
    bridge_granted: tunnel.channel !== null,
    bridge_last_seen_secs_ago: history._tag === "Silent" ? null : lastSeen(holders),
    // On most carriers a serving agent registers with its version; what it reported or a probe found may be old.
    agent_version: versions.length > 0 ? versions.join(", ") : tunnel.agentVersion,
    gaps: gaps(tunnel.readiness),
    probed_at: tunnel.probedAt,
    silent_edges: history.silent
  })

const fleetRows = Effect.fnUntraced(function* ({ edge }: State, all: ReadonlyArray<Known>) {
  const bridged = all.flatMap(({ history, tunnel }) => (history._tag === "Silent" ? [] : (tunnel.channel ?? [])))
  const holdersOn = yield* edge.presences(bridged)
  return all.map((each) => fleetRow(each, each.tunnel.channel === null ? [] : holdersOn(each.tunnel.channel)))
})

const uptime = Effect.fn("Records.uptime")(function* ({ edge, tunnels }: State, account: Account, id: string) {
  const { routingToken } = yield* tunnels.owned(id, account)
  return Figures.report(yield* edge.history(routingToken, Figures.maxSessions, "figures"), yield* unixSeconds)
}, sqlOrDie)

const reach = Effect.fn("Records.reach")(function* (
  { edge, store }: State,
  { subject }: Account,
  ids: ReadonlyArray<string>
) {
  const found = yield* store.tokens({ subject, ids })
  const statuses = yield* edge.statuses(found.map(({ routingToken }) => routingToken))
  const reports = byToken(statuses)
  return new Map(
    found.map(({ id, routingToken }) => [id, reachOf(statuses, reports.get(Redacted.value(routingToken)))])
  )
}, sqlOrDie)

const sums = Effect.fn("Records.sums")(function* (
  { edge, store }: State,
  { subject }: Account,
  ids: ReadonlyArray<string>
) {
  const found = yield* store.tokens({ subject, ids })
  const { known, silent } = yield* edge.sums(found.map(({ routingToken }) => routingToken))
  // What a silent edge has counted would be missing from every sum.
  const all = silent.length > 0 ? [] : Option.getOrElse(known, () => [])
  const sums = new Map(all.map((each) => [Redacted.value(each.token), each]))
  return new Map(
    found.flatMap(({ id, routingToken }) => {
      const each = sums.get(Redacted.value(routingToken))
      return each === undefined ? [] : [[id, each] as const]
    })
  )
}, sqlOrDie)

const fleet = Effect.fn("Records.fleet")(function* (state: State, account: Account, page: Page) {
  return yield* fleetRows(state, yield* known(state, yield* owned(state, account, page)))
}, sqlOrDie)

const fleetByDay = Effect.fn("Records.fleetByDay")(function* (state: State, account: Account) {
  const all = yield* known(state, yield* owned(state, account, {}), "figures")
  return { rows: yield* fleetRows(state, all), days: daysOf(all) }
}, sqlOrDie)

export class Records extends Context.Service<
  Records,
  {
    readonly uptime: (account: Account, id: string) => Effect.Effect<UptimeReport, TunnelNotFound>
    /** Of those ids that the account owns, whether visitors reach the service, and what is silent where they do not. */
    readonly reach: (account: Account, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Reachability>>
    /** What passed through those of the tunnels that the account owns; none of tunnels of which no edge knows anything. */
    readonly sums: (account: Account, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, TokenSums>>
    /** The figures of 30 days of every tunnel that the account owns. */
    readonly usage: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<UsageRow>, never, HttpServerRequest.HttpServerRequest>
    /** The same of all of them, and their days together. */
    readonly usageByDay: (
      account: Account
    ) => Effect.Effect<ByDay<UsageRow>, never, HttpServerRequest.HttpServerRequest>
    readonly usageCsv: (account: Account) => Effect.Effect<string, never, HttpServerRequest.HttpServerRequest>
    readonly fleet: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<FleetRow>, never, HttpServerRequest.HttpServerRequest>
    readonly fleetByDay: (
      account: Account
    ) => Effect.Effect<ByDay<FleetRow>, never, HttpServerRequest.HttpServerRequest>
  }
>()("server/tunnels/records/Records") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { uptime, reach, sums, fleet, fleetByDay }),
    usage: Effect.fn("Records.usage")((account, page) => rows(state, account, page), sqlOrDie),
    usageByDay: Effect.fn("Records.usageByDay")((account: Account) => usageByDay(state, account, {}), sqlOrDie),
    usageCsv: Effect.fn("Records.usageCsv")(
      (account: Account) => Effect.map(rows(state, account, {}), usageCsv),
      sqlOrDie
    )
  }))

  static readonly layer = Layer.effect(Records, Records.make).pipe(
    Layer.provide([EdgeFacts.layer, RecordStore.layer, Tunnels.layer])
  )
}
