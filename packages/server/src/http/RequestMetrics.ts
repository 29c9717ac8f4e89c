/**
 * Counts responses of this process by method, route pattern and status, with their durations. Plain numbers, because
 * every request adds to them. A path never becomes a label, so callers cannot make the page grow.
 */
import type { Family, HistogramSample } from "@catenet/platform/PrometheusText"
import { Clock, Context, Effect, Layer } from "effect"

/** Upper bounds of the histogram, in seconds. */
const bounds: ReadonlyArray<number> = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Seen {
  readonly method: string
  readonly route: string
  readonly statuses: Map<number, number>
  /** Requests up to each bound and above the one before; the last is above all. */
  readonly buckets: Array<number>
  seconds: number
}

const known: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

export class RequestMetrics extends Context.Service<
  RequestMetrics,
  {
    /** The moment at which a request came, for `add`. */
    readonly now: () => bigint
    /** Counts one response; `route` is the pattern that matched. */
    readonly add: (method: string, route: string, status: number, since: bigint) => void
    readonly families: () => ReadonlyArray<Family>
  }
>()("server/http/RequestMetrics") {
  static readonly make = Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const table = new Map<string, Map<string, Seen>>()

    const seenOf = (method: string, route: string): Seen => {
      const methods = table.get(route) ?? new Map<string, Seen>()
      if (methods.size === 0) table.set(route, methods)
      const name = known.has(method) ? method : "other"
      const found = methods.get(name)
      if (found !== undefined) return found
      const fresh: Seen = {
        method: name,
        route,
        statuses: new Map(),
        buckets: bounds.map(() => 0).concat(0),
        seconds: 0
      }
      methods.set(name, fresh)
      return fresh
    }

    const histogram = ({ buckets, method, route, seconds }: Seen): HistogramSample => {
      let count = 0
      const cumulative = buckets.map((here, index) => [bounds[index] ?? Infinity, (count += here)] as const)
      return { labels: { method, route }, buckets: cumulative, sum: seconds, count }
    }

    return {
      now: (): bigint => clock.currentTimeNanosUnsafe(),
      add: (method: string, route: string, status: number, since: bigint): void => {
        const seen = seenOf(method, route)
        const seconds = Number(clock.currentTimeNanosUnsafe() - since) / 1e9
        seen.statuses.set(status, (seen.statuses.get(status) ?? 0) + 1)
        const found = bounds.findIndex((bound) => seconds <= bound)
        const bucket = found === -1 ? bounds.length : found
        seen.buckets[bucket] = (seen.buckets[bucket] ?? 0) + 1
        seen.seconds += seconds
      },
      families: (): ReadonlyArray<Family> => {
        const all = Array.from(table.values()).flatMap((methods) => Array.from(methods.values()))
        return [
          {
            name: "catenet_http_requests_total",
            type: "counter",
            help: "Requests answered.",
            samples: all.flatMap(({ method, route, statuses }) =>
              [...statuses].map(([status, value]) => ({ labels: { method, route, status: String(status) }, value }))
            )
          },
          {
            name: "catenet_http_request_duration_seconds",
            type: "histogram",
            help: "Time from a request to its answer.",
            samples: all.map(histogram)
          }
        ]
      }
    }
  })

  static readonly layer = Layer.effect(RequestMetrics, RequestMetrics.make)
}
