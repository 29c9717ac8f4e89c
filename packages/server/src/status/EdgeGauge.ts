/** The number of live tunnels, read from the metrics page of the edge. */
import { Data, Effect, Option } from "effect"
import { HttpClient } from "effect/http"
import { Settings } from "../Settings.ts"

/** The edge does not say how many tunnels are live. */
export class GaugeUnknown extends Data.TaggedError("GaugeUnknown")<{ readonly cause?: unknown }> {}

const sample = /^ct_edge_active_tunnels(?:\{[^}]*\})? (\d+)(?:\.0+)?(?: \d+)?$/m

/** Asks the edge, for at most two seconds. */
export const make = Effect.gen(function* () {
  const { edgeMetricsUrl } = yield* Settings
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  if (edgeMetricsUrl === undefined) return Effect.fail(new GaugeUnknown({}))
  return client.get(edgeMetricsUrl).pipe(
    Effect.flatMap((response) => response.text),
    Effect.timeout("2 seconds"),
    Effect.mapError((cause) => new GaugeUnknown({ cause })),
    Effect.flatMap((page) =>
      Option.match(Option.fromNullishOr(sample.exec(page)?.[1]), {
        onNone: () => Effect.fail(new GaugeUnknown({})),
        onSome: (digits) => Effect.succeed(Number(digits))
      })
    )
  )
})
