/**
 * The number of live tunnels, read from the metrics page of the edge. An edge that hangs keeps no one waiting: it is
 * asked in the background, and what it says late counts for the next who ask.
 */
import { Clock, Data, Effect, Fiber, Option } from "effect"
import { HttpClient } from "effect/http"
import { Settings } from "../Settings.ts"

/** The edge does not say how many tunnels are live. */
export class GaugeUnknown extends Data.TaggedError("GaugeUnknown")<{ readonly cause?: unknown }> {}

const sample = /^ct_edge_active_tunnels(?:\{[^}]*\})? (\d+)(?:\.0+)?(?: \d+)?$/m

/** How long an answer is waited for. */
const patience = "200 millis"
/** How long an answer counts when no newer one comes. */
const worthMillis = 10_000

/** Asks the edge, for at most two seconds, of which the caller spends the first fifth of one. */
export const make = Effect.gen(function* () {
  const { edgeMetricsUrl } = yield* Settings
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  const scope = yield* Effect.scope
  if (edgeMetricsUrl === undefined) return Effect.fail(new GaugeUnknown({}))
  let last: { readonly tunnels: number; readonly at: number } | undefined
  let asking: Fiber.Fiber<unknown, unknown> | undefined

  const ask = client.get(edgeMetricsUrl).pipe(
    Effect.flatMap((response) => response.text),
    Effect.timeout("2 seconds"),
    Effect.flatMap((page) => Effect.fromOption(Option.fromNullishOr(sample.exec(page)?.[1]))),
    Effect.flatMap((digits) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        last = { tunnels: Number(digits), at }
      })
    )
  )

  return Effect.gen(function* () {
    if (asking === undefined || asking.pollUnsafe() !== undefined) asking = yield* Effect.forkIn(ask, scope)
    const asked = yield* Effect.timeoutOption(Fiber.await(asking), patience)
    const now = yield* Clock.currentTimeMillis
    // An edge that has answered, but not with a number, is not represented by what it said before.
    const failed = Option.isSome(asked) && asked.value._tag === "Failure"
    if (last === undefined || failed || now - last.at >= worthMillis) return yield* new GaugeUnknown({})
    return last.tunnels
  })
})
