/**
 * The number of live tunnels, as the edges say it: each live edge is asked and the answers are added up. An edge that hangs
 * delays no answer: it is asked in the background, and what it says late counts for the next caller. Until then it is silent,
 * and named. One edge alone is read at its metrics page, where the settings name one.
 */
import { Data, Effect, Option, Scope } from "effect"
import { HttpClient } from "effect/http"
import type { EdgeAddress } from "../edges/EdgeAddressStore.ts"
import * as EdgeClient from "../edges/EdgeClient.ts"
import { LiveEdges } from "../edges/LiveEdges.ts"
import { Settings } from "../settings/Settings.ts"
import { staleWhileRevalidate } from "./StaleWhileRevalidate.ts"

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

export const make = Effect.gen(function* () {
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
