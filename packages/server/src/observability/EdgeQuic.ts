/** Whether the live edges listen for QUIC at the port of the mesh, as they say it; asked again after five seconds. */
import { Context, Effect, Layer, Option, Scope } from "effect"
import type { EdgeAddress } from "../edges/EdgeAddressStore.ts"
import * as EdgeClient from "../edges/EdgeClient.ts"
import { LiveEdges } from "../edges/LiveEdges.ts"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { staleWhileRevalidate } from "./StaleWhileRevalidate.ts"

const freshness = "5 seconds"

interface Known {
  readonly url: string
  readonly listens: Effect.Effect<Option.Option<boolean>>
}

export class EdgeQuic extends Context.Service<
  EdgeQuic,
  {
    /** False where one edge does not, none where no edge is known or one does not say it. */
    readonly listens: Effect.Effect<Option.Option<boolean>>
  }
>()("server/observability/EdgeQuic") {
  static readonly make = Effect.gen(function* () {
    const edges = yield* LiveEdges
    const clientAt = yield* EdgeClient.make
    if (Option.isNone(clientAt)) return { listens: Effect.succeedNone }
    const at = clientAt.value
    const scope = yield* Effect.scope
    const known = new Map<string, Known>()

    const listens = Effect.fnUntraced(function* ({ id, url }: EdgeAddress) {
      let one = known.get(id)
      if (one?.url !== url) {
        const listeners = Effect.flatMap(at(url), ({ facts }) => facts.quicListeners())
        const question = Effect.map(listeners, ({ listeners }) => listeners.includes("mesh"))
        one = { url, listens: yield* Effect.provideService(staleWhileRevalidate(question), Scope.Scope, scope) }
        known.set(id, one)
      }
      return yield* one.listens
    })

    const read = Effect.gen(function* () {
      const live = yield* edges.all
      for (const id of known.keys()) if (!live.some((edge) => edge.id === id)) known.delete(id)
      const listeners = yield* Effect.forEach(live, listens, { concurrency: "unbounded" })
      if (listeners.some((one) => Option.isSome(one) && !one.value)) return Option.some(false)
      return listeners.length > 0 && listeners.every(Option.isSome) ? Option.some(true) : Option.none<boolean>()
    })
    return { listens: yield* Effect.cachedWithTTL(read, freshness) }
  })

  /** On the caller's view of which edges live. */
  static readonly layerNoDeps = Layer.effect(EdgeQuic, EdgeQuic.make).pipe(Layer.provide(OutgoingHttp.layerToEdges))
  static readonly layer = EdgeQuic.layerNoDeps.pipe(Layer.provide(LiveEdges.layer))
}
