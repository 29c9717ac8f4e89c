/**
 * The Prometheus page. Request metrics are those of this process; everything else is counted in the database and equal
 * on every replica. Without the database its families are missing and `catenet_database_up` is 0.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { MetricsTokenRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { Count } from "@catenet/domain/values/Numbers"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { type Family, render, type Sample } from "@catenet/platform/PrometheusText"
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import process from "node:process"
import { liveSeconds } from "../edges/EdgeAddressStore.ts"
import { RequestMetrics } from "../http/RequestMetrics.ts"
import { KeySet } from "../identity/KeySet.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import * as Status from "./Statuses.ts"

/**
 * `GET /metrics`, for callers that send `CT_CP_METRICS_TOKEN` as a bearer token. Without that setting there is no such
 * page: a caller from this machine may be a proxy with a request of the public, so an address is no proof.
 */
const refused = Effect.map(
  HttpServerRespondable.toResponse(new MetricsTokenRefused()),
  HttpServerResponse.setHeader("www-authenticate", "Bearer")
)

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { metricsToken } = yield* Settings
    const metrics = yield* Metrics
    const page = Effect.map(metrics.page, (text) =>
      HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
    )
    if (metricsToken === undefined)
      return yield* router.add("GET", "/metrics", HttpServerRespondable.toResponse(new RouteNotFound()))
    const wanted = Bytes.fromText(`Bearer ${Redacted.value(metricsToken)}`)
    yield* router.add(
      "GET",
      "/metrics",
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        ConstantTime.equal(Bytes.fromText(headers["authorization"] ?? ""), wanted) ? page : refused
      )
    )
  })
)

/** What the operating system says about this process. The one place that asks it. */
const single = (name: string, type: "counter" | "gauge", help: string, value: number): Family => ({
  name,
  type,
  help,
  samples: [{ value }]
})

/** The customary families; `startedAt` is in unix seconds. */
const families = (startedAt: number): ReadonlyArray<Family> => {
  const { system, user } = process.cpuUsage()
  const { heapUsed, rss } = process.memoryUsage()
  return [
    single("process_cpu_seconds_total", "counter", "User and system processor time.", (system + user) / 1e6),
    single("process_resident_memory_bytes", "gauge", "Resident memory.", rss),
    single("process_start_time_seconds", "gauge", "Start of the process, in unix seconds.", startedAt),
    single("nodejs_heap_used_bytes", "gauge", "Memory used by the heap.", heapUsed)
  ]
}

/** What the database says about the work that is left, in one statement. */
const Work = Schema.Struct({
  pending: Count,
  refused: Count,
  oldestAt: Schema.NullOr(Schema.Int),
  edgesLive: Count,
  queued: Count,
  offered: Count,
  lapsed: Count,
  gruen: Count
})
type Work = typeof Work.Type

const makeMetricsStore = Effect.map(SqlClient.SqlClient, (sql) => ({
  work: SqlSchema.findOne({
    Request: Schema.Struct({ liveSince: Schema.Int }),
    Result: Work,
    execute: ({ liveSince }) => sql`
      select o.*, h.*, (select count(*) from edge_nodes where seen_at >= ${liveSince}) as edges_live
      from (select count(*) filter (where refused_at is null) as pending, count(refused_at) as refused,
          min(created_at) filter (where refused_at is null) as oldest_at from outbox) o,
        (select count(*) filter (where claim = 'queued') as queued, count(*) filter (where claim = 'offered') as offered,
          count(*) filter (where claim = 'lapsed') as lapsed, count(*) filter (where status = 'gruen') as gruen
          from hosts) h`
  })
}))

const gauge = (name: string, help: string, ...samples: ReadonlyArray<Sample>): Family => ({
  name: `catenet_${name}`,
  type: "gauge",
  help,
  samples
})

const counts = (counted: Status.Counts): ReadonlyArray<Family> => [
  gauge("hostnames", "Hostnames that are recorded as owned.", { value: counted.hosts }),
  gauge("agents", "Agents that redeemed a join token.", { value: counted.agents }),
  gauge("accounts", "Accounts with credits.", { value: counted.accounts }),
  gauge("payments_confirmed", "Payments that the provider confirmed.", { value: counted.payments }),
  gauge("pipelines", "Published pipelines.", { value: counted.pipelines }),
  gauge("directory_agents", "Entries of the agent directory.", { value: counted.directory })
]

const work = (left: Work, now: number): ReadonlyArray<Family> => [
  gauge(
    "outbox_calls",
    "Calls that edges have not taken.",
    { labels: { state: "pending" }, value: left.pending },
    { labels: { state: "refused" }, value: left.refused }
  ),
  gauge("outbox_oldest_seconds", "Age of the oldest call that is pending.", {
    value: left.oldestAt === null ? 0 : Math.max(0, now - left.oldestAt)
  }),
  gauge("edges_live", "Edge servers with a recent heartbeat.", { value: left.edgesLive }),
  gauge(
    "certificate_admissions",
    "Hostnames by where they stand on the way to their own certificate.",
    { labels: { state: "queued" }, value: left.queued },
    { labels: { state: "offered" }, value: left.offered },
    { labels: { state: "lapsed" }, value: left.lapsed },
    { labels: { state: "gruen" }, value: left.gruen }
  )
]

export class Metrics extends Context.Service<Metrics, { readonly page: Effect.Effect<string> }>()(
  "server/observability/Metrics"
) {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeMetricsStore
    const status = yield* Status.makeStatusStore
    const traffic = yield* RequestMetrics
    const keys = yield* KeySet
    const startedAt = (yield* Clock.currentTimeMillis) / 1000

    const stored = Effect.gen(function* () {
      const now = yield* unixSeconds
      const counted = yield* status.counts()
      const left = yield* store.work({ liveSince: now - liveSeconds })
      return [...counts(counted), ...work(left, now)]
    }).pipe(Effect.timeout("5 seconds"), Effect.option)

    return {
      page: Effect.map(stored, (found) =>
        render([
          gauge("database_up", "Whether the database could be read.", { value: Option.isSome(found) ? 1 : 0 }),
          gauge("oidc_up", "Whether a key is known that verifies access tokens.", { value: keys.usable() ? 1 : 0 }),
          ...Option.getOrElse(found, (): ReadonlyArray<Family> => []),
          ...traffic.families(),
          ...families(startedAt)
        ])
      )
    }
  })

  static readonly layer = Layer.effect(Metrics, Metrics.make).pipe(Layer.provide([KeySet.layer, RequestMetrics.layer]))
}
