/**
 * The public status. Counts older than five seconds are refreshed while callers get the old ones; callers wait only if
 * the old ones are too old to show. A response never fails.
 */
import { Status } from "@catenet/domain/api/StatusApi"
import { Count } from "@catenet/domain/values/Numbers"
import { DatabaseUnreachable, NotServing } from "@catenet/domain/values/RequestErrors"
import { Clock, Context, Data, Effect, Fiber, Layer, Option, Schema, Scope } from "effect"
import { HttpClient, HttpServerResponse } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import type { EdgeAddress } from "../edges/EdgeAddressStore.ts"
import * as EdgeClient from "../edges/EdgeClient.ts"
import { LiveEdges } from "../edges/LiveEdges.ts"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { KeySet } from "../identity/KeySet.ts"
import { Settings } from "../settings/Settings.ts"
import { staleWhileRevalidate } from "./StaleWhileRevalidate.ts"

/** The counts of the status page, all in one statement. */
const Counts = Schema.Struct({
  hosts: Count,
  agents: Count,
  accounts: Count,
  payments: Count,
  pipelines: Count,
  directory: Count
})
export type Counts = typeof Counts.Type

export const makeStatusStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    counts: SqlSchema.findOne({
      Request: Schema.Void,
      Result: Counts,
      execute: () => sql`select
        (select count(*) from hosts) as hosts,
        (select count(*) from join_tokens where redeemed_at is not null)
          + (select count from pruned_redemptions) as agents,
        (select count(*) from accounts) as accounts, (select count(*) from payment_intents where confirmed) as payments,
        (select count(*) from pipelines) as pipelines, (select count(*) from directory_agents) as directory`
    }),
    /** Whether the database takes writes, read from it and nothing else. */
    isWritable: Effect.map(
      sql<{ writable: boolean }>`
        select current_setting('transaction_read_only') = 'off' as writable from schema_migrations limit 1`,
      ([row]) => row?.writable === true
    )
  }
})

// The number of live tunnels, as the edges say it: each live edge is asked and the answers are added up. An edge that hangs
// delays no answer: it is asked in the background, and what it says late counts for the next caller. Until then it is silent,
// and named. One edge alone is read at its metrics page, where the settings name one.

/** No edge says how many tunnels are live. */
export class GaugeUnknown extends Data.TaggedError("GaugeUnknown")<{ readonly silent: ReadonlyArray<string> }> {}

/** A tunnel with agents at two edges is live at each of them. `silent`: the edges whose tunnels are not in the sum. */
export interface Reading {
  readonly tunnels: number
  readonly silent: ReadonlyArray<string>
}

const sample = /^ct_edge_active_tunnels(?:\{[^}]*\})? (\d+)(?:\.0+)?(?: \d+)?$/m

interface Known {
  readonly url: string
  readonly tunnels: Effect.Effect<Option.Option<number>>
}

export const makeLiveTunnelGauge = Effect.gen(function* () {
  const { edgeMetricsUrl } = yield* Settings
  const edges = yield* LiveEdges
  const clientAt = yield* EdgeClient.make
  const http = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  const scope = yield* Effect.scope

  const page =
    edgeMetricsUrl === undefined
      ? undefined
      : http.get(edgeMetricsUrl).pipe(
          Effect.flatMap((response) => response.text),
          Effect.flatMap((text) => Effect.fromOption(Option.fromNullishOr(sample.exec(text)?.[1]))),
          Effect.map(Number)
        )
  const read = page === undefined ? undefined : yield* staleWhileRevalidate(page)

  const question = ({ id, url }: EdgeAddress): Effect.Effect<Known["tunnels"]> => {
    if (read !== undefined && id === edges.homeId) return Effect.succeed(read)
    if (Option.isNone(clientAt)) return Effect.succeed(Effect.succeedNone)
    const asked = Effect.flatMap(clientAt.value(url), ({ facts }) => facts.activeTunnels())
    const tunnels = Effect.map(asked, ({ active_tunnels }) => active_tunnels)
    return Effect.provideService(staleWhileRevalidate(tunnels), Scope.Scope, scope)
  }

  const known = new Map<string, Known>()
  const numberOf = Effect.fnUntraced(function* (edge: EdgeAddress) {
    let one = known.get(edge.id)
    if (one?.url !== edge.url) {
      one = { url: edge.url, tunnels: yield* question(edge) }
      known.set(edge.id, one)
    }
    return { id: edge.id, tunnels: yield* one.tunnels }
  })

  return Effect.gen(function* () {
    const live = yield* edges.all
    // What only the settings name is asked as they say: at its metrics page or not at all.
    if (live.every(({ id }) => id === edges.home?.id)) {
      const tunnels = read === undefined ? Option.none<number>() : yield* read
      if (Option.isNone(tunnels)) return yield* new GaugeUnknown({ silent: [] })
      return { tunnels: tunnels.value, silent: [] } satisfies Reading
    }
    for (const id of known.keys()) if (!live.some((edge) => edge.id === id)) known.delete(id)
    const numbers = yield* Effect.forEach(live, numberOf, { concurrency: "unbounded" })
    const counts = numbers.flatMap(({ tunnels }) => Option.toArray(tunnels))
    const silent = numbers.flatMap(({ id, tunnels }) => (Option.isNone(tunnels) ? [id] : []))
    if (counts.length === 0) return yield* new GaugeUnknown({ silent })
    return { tunnels: counts.reduce((sum, each) => sum + each, 0), silent } satisfies Reading
  })
})

const freshMillis = 5_000
/** Older counts are not shown. */
const worthlessMillis = 10_000

type Facts = Omit<Status, "uptime_seconds" | "oidc_enabled">

const unknown: Facts = {
  ready: false,
  tunnels: 0,
  agents: 0,
  accounts: 0,
  payments_confirmed: 0,
  pipelines_published: 0,
  agents_directory: 0
}

type Store = Effect.Success<typeof makeStatusStore>
type Gauge = Effect.Success<typeof makeLiveTunnelGauge>

/** What is counted now; nothing where that takes too long or fails. */
const readBy = (store: Store, gauge: Gauge) =>
  Effect.gen(function* () {
    const { accounts, agents, directory, hosts, payments, pipelines } = yield* store.counts()
    const { silent, tunnels } = yield* Effect.catchTag(gauge, "GaugeUnknown", ({ silent }) =>
      Effect.succeed({ tunnels: hosts, silent })
    )
    return {
      ready: true,
      tunnels,
      ...(silent.length === 0 ? {} : { silent_edges: silent }),
      agents,
      accounts,
      payments_confirmed: payments,
      pipelines_published: pipelines,
      agents_directory: directory
    }
  }).pipe(
    Effect.timeout("5 seconds"),
    Effect.orElseSucceed(() => unknown)
  )

export class Statuses extends Context.Service<
  Statuses,
  {
    /** The response as long as it is fresh. */
    readonly cached: () => HttpServerResponse.HttpServerResponse | undefined
    readonly answer: Effect.Effect<HttpServerResponse.HttpServerResponse>
    /** The counts of the last answer, for a page. */
    readonly counts: () => Pick<Status, "tunnels" | "agents" | "accounts">
    /** Succeeds when the database takes writes and the service is not about to end. */
    readonly ready: Effect.Effect<void, DatabaseUnreachable | NotServing>
    /** From now on the service is not ready. */
    readonly leave: Effect.Effect<void>
  }
>()("server/observability/Statuses") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeStatusStore
    const gauge = yield* makeLiveTunnelGauge
    const keys = yield* KeySet
    const clock = yield* Clock.Clock
    const started = clock.currentTimeMillisUnsafe()
    const scope = yield* Effect.scope

    const read = readBy(store, gauge)

    let isLeaving = false
    let facts = yield* read
    let readAt = yield* Clock.currentTimeMillis
    const refresh = Effect.gen(function* () {
      facts = yield* read
      readAt = yield* Clock.currentTimeMillis
    })
    let reading: Fiber.Fiber<void> | undefined
    /** One for all who ask meanwhile. */
    const refreshing = Effect.suspend(() =>
      reading !== undefined && reading.pollUnsafe() === undefined
        ? Effect.succeed(reading)
        : Effect.map(Effect.forkIn(refresh, scope), (fiber) => (reading = fiber))
    )

    const encode = Schema.encodeSync(Schema.fromJsonString(Status))
    const answerAt = (uptime: number, oidc: boolean) =>
      HttpServerResponse.text(
        encode(
          new Status({
            ...facts,
            ready: facts.ready && !isLeaving,
            uptime_seconds: uptime,
            oidc_enabled: oidc
          })
        ),
        { contentType: "application/json" }
      )
    let answered = { uptime: -1, facts, oidc: false, isLeaving, answer: answerAt(0, false) }

    /** The answer as it is sent, made once a second at most. */
    const responseAt = (now: number) => {
      const uptime = Math.floor((now - started) / 1000)
      const oidc = keys.usable()
      const isSame = answered.uptime === uptime && answered.facts === facts
      if (!isSame || answered.oidc !== oidc || answered.isLeaving !== isLeaving)
        answered = { uptime, facts, oidc, isLeaving, answer: answerAt(uptime, oidc) }
      return answered.answer
    }

    return {
      cached: () => {
        const now = clock.currentTimeMillisUnsafe()
        return now - readAt < freshMillis ? responseAt(now) : undefined
      },
      answer: Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const age = now - readAt
        if (age < freshMillis) return Effect.succeed(responseAt(now))
        if (age < worthlessMillis) return Effect.as(refreshing, responseAt(now))
        return Effect.andThen(Effect.flatMap(refreshing, Fiber.await), Effect.map(Clock.currentTimeMillis, responseAt))
      }),
      counts: () => facts,
      ready: Effect.gen(function* () {
        if (isLeaving) return yield* new NotServing()
        const isWritable = yield* Effect.timeout(store.isWritable, "2 seconds").pipe(Effect.orElseSucceed(() => false))
        if (!isWritable) return yield* new DatabaseUnreachable()
      }),
      leave: Effect.sync(() => (isLeaving = true))
    }
  })

  /** On the caller's view of the keys, and of which edges live. */
  static readonly layerNoDeps = Layer.effect(Statuses, Statuses.make).pipe(Layer.provide(OutgoingHttp.layerToEdges))
  static readonly layer = Statuses.layerNoDeps.pipe(Layer.provide([KeySet.layer, LiveEdges.layer]))
}
