/** The health of live edges, each asked for at most two seconds: healthy, which loops are stuck, or no answer. */
import type { EdgeUnhealthy } from "@catenet/domain/edges/EdgeErrors"
import { Context, Effect, Layer, Option } from "effect"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import * as EdgeClient from "./EdgeClient.ts"
import { LiveEdges } from "./LiveEdges.ts"

const patience = "2 seconds"

export type Health =
  | { readonly _tag: "Healthy" }
  | { readonly _tag: "Stalled"; readonly loops: ReadonlyArray<string> }
  | { readonly _tag: "Silent" }

const stalled = ({ stalled: loops }: EdgeUnhealthy): Effect.Effect<Health> => Effect.succeed({ _tag: "Stalled", loops })

export class EdgeHealth extends Context.Service<
  EdgeHealth,
  {
    /** By the ids of the live edges. An edge that is not there cannot be asked. */
    readonly all: Effect.Effect<ReadonlyMap<string, Health>>
  }
>()("server/edges/EdgeHealth") {
  static readonly make = Effect.gen(function* () {
    const clientAt = yield* EdgeClient.make
    const edges = yield* LiveEdges
    if (Option.isNone(clientAt)) return { all: Effect.succeed<ReadonlyMap<string, Health>>(new Map()) }
    const at = clientAt.value

    const ask = ({ id, url }: { readonly id: string; readonly url: string }) =>
      Effect.flatMap(at(url), ({ health }) => health.live()).pipe(
        Effect.as<Health>({ _tag: "Healthy" }),
        Effect.catchTag("EdgeUnhealthy", stalled),
        Effect.timeout(patience),
        Effect.catch(() => Effect.succeed<Health>({ _tag: "Silent" })),
        Effect.map((health) => [id, health] as const)
      )

    return {
      all: Effect.map(
        Effect.flatMap(edges.all, (live) => Effect.forEach(live, ask, { concurrency: "unbounded" })),
        (found): ReadonlyMap<string, Health> => new Map(found)
      )
    }
  })

  static readonly layer = Layer.effect(EdgeHealth, EdgeHealth.make)
    .pipe(Layer.provide(OutgoingHttp.layerToEdges))
    .pipe(Layer.provide(LiveEdges.layer))
}
