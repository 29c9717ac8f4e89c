/**
 * The edges that live, as this process can reach them: the one of its settings, and those that have sent the control
 * plane an address with a heartbeat. Without the edges' token this process reaches none and does no work that needs one.
 */
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { type EdgeAddress, EdgeAddressStore } from "./EdgeAddressStore.ts"

export class LiveEdges extends Context.Service<
  LiveEdges,
  {
    /** Whether this process may call edges at all. */
    readonly canDeliver: boolean
    /** The edge of this process's settings. */
    readonly home: EdgeAddress | undefined
    /** The id of the edge that new tunnels are bound to. */
    readonly homeId: string
    /** Every live edge that this process can call, as of a second ago at most. */
    readonly all: Effect.Effect<ReadonlyArray<EdgeAddress>>
    /** To the end of the transaction no edge comes to the set. */
    readonly hold: Effect.Effect<void, SqlError.SqlError>
    /** Names the edge of the settings to the other replicas; to be repeated well within a day. */
    readonly configure: Effect.Effect<void, SqlError.SqlError>
    /** Deletes the orders of edges that are gone. */
    readonly prune: Effect.Effect<void, SqlError.SqlError>
  }
>()("server/edges/LiveEdges") {
  static readonly make = Effect.gen(function* () {
    const store = yield* EdgeAddressStore
    const { adminToken, edgeAdminUrl, edgeId } = yield* Settings
    const home =
      adminToken === undefined || edgeAdminUrl === undefined ? undefined : { id: edgeId, url: edgeAdminUrl.href }
    const canDeliver = adminToken !== undefined

    /** The address in the settings goes before the one in the database. */
    const read = Effect.map(Effect.flatMap(unixSeconds, store.live), (known): ReadonlyArray<EdgeAddress> =>
      home === undefined ? known : [home, ...known.filter(({ id }) => id !== home.id)]
    )
    const all = yield* Effect.cachedWithTTL(
      Effect.catchCause(read, (cause) =>
        Effect.as(Effect.logWarning("Could not look up the edges.", cause), home === undefined ? [] : [home])
      ),
      "1 second"
    )

    const configure = Effect.suspend(() =>
      home === undefined ? Effect.void : Effect.asVoid(Effect.flatMap(unixSeconds, (now) => store.configure(home, now)))
    )
    // Before anything is served: a replica without the token has no other way to know of this edge.
    yield* Effect.ignore(configure)

    return {
      canDeliver,
      home,
      homeId: edgeId,
      all: canDeliver ? all : Effect.succeed<ReadonlyArray<EdgeAddress>>([]),
      hold: Effect.asVoid(store.hold),
      configure,
      prune: Effect.asVoid(Effect.flatMap(unixSeconds, store.prune))
    }
  })

  static readonly layer = Layer.effect(LiveEdges, LiveEdges.make).pipe(Layer.provide([EdgeAddressStore.layer]))

  /** The edge of the settings and others, which live for ever, for what calls edges and has no database. */
  static readonly layerOf = (home: EdgeAddress, ...others: ReadonlyArray<EdgeAddress>) =>
    Layer.succeed(LiveEdges, {
      canDeliver: true,
      home,
      homeId: home.id,
      all: Effect.succeed([home, ...others]),
      hold: Effect.void,
      configure: Effect.void,
      prune: Effect.void
    })
}
