/**
 * Whether live edges listen for QUIC at the mesh port, as they report it, asked again after five seconds; and the root
 * certificate of the mesh.
 */
import { EdgeCaNotConfigured, EdgeCaNotPublished } from "@catenet/domain/edges/EdgeErrors"
import { Files } from "@catenet/platform/Files"
import { Context, Effect, Layer, Option, Scope } from "effect"
import { X509Certificate } from "node:crypto"
import type { EdgeAddress } from "../edges/EdgeAddressStore.ts"
import * as EdgeClient from "../edges/EdgeClient.ts"
import { LiveEdges } from "../edges/LiveEdges.ts"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../settings/Settings.ts"
import { staleWhileRevalidate } from "./StaleWhileRevalidate.ts"

/**
 * The root certificate of the mesh plane, as the edge published it. The first one read is served for the life of the
 * process: agents pin it, so it must not change under them.
 */
const isAbsent = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

/** The DER bytes, or the refusal while there is no such file. A file that is still being copied is no certificate. */
export const make = Effect.gen(function* () {
  const { edgeAdminUrl, edgeCertPath } = yield* Settings
  if (edgeCertPath === undefined && edgeAdminUrl !== undefined)
    yield* Effect.logWarning(
      "CT_CP_EDGE_CERT_PATH is not set: agents cannot learn the root certificate of the edge; set it to the file of CT_EDGE_CERT_OUT, or to a copy of it."
    )
  let published: Uint8Array | undefined
  const read = Effect.fnUntraced(function* (path: string) {
    const bytes = yield* Effect.tryPromise({
      try: () => Files.readFile(path),
      catch: (error) => (isAbsent(error) ? new EdgeCaNotPublished() : new EdgeCaNotConfigured({ reason: "unusable" }))
    })
    if (bytes.length === 0) return yield* new EdgeCaNotPublished()
    return yield* Effect.try({
      try: () => new Uint8Array(new X509Certificate(bytes).raw),
      catch: () => new EdgeCaNotConfigured({ reason: "unusable" })
    })
  })
  return Effect.suspend(() => {
    if (published !== undefined) return Effect.succeed(published)
    if (edgeCertPath === undefined) return Effect.fail(new EdgeCaNotConfigured({ reason: "unset" }))
    return Effect.tap(read(edgeCertPath), (der) => Effect.sync(() => (published = der)))
  })
})

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
  static readonly layer = Layer.effect(EdgeQuic, EdgeQuic.make)
    .pipe(Layer.provide(OutgoingHttp.layerToEdges))
    .pipe(Layer.provide(LiveEdges.layer))
}
