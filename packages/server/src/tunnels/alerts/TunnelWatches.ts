/**
 * Rounds over all tunnels: which of those that visitors reached before do they reach no more. Each edge is asked about many
 * tunnels at once, by whichever replica takes the round, and only what has changed is written, so that a notice costs no
 * question and most rounds write nothing. An edge that is silent changes nothing.
 */
import { isServed } from "@catenet/domain/tunnels/Reachability"
import { Context, Effect, Layer, Option, Redacted, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { EdgeFacts, reachOf } from "../../edges/EdgeFacts.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"
import * as Store from "./TunnelWatchStore.ts"

/** Tunnels of one question to an edge. */
const perQuestion = 500

export class TunnelWatches extends Context.Service<
  TunnelWatches,
  {
    /** Makes the round, if one is due and there is an edge to ask. */
    readonly lookAround: Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/tunnels/alerts/TunnelWatches") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const edge = yield* EdgeFacts
    const { alertIntervalSeconds } = yield* Settings

    const lookAt = Effect.fnUntraced(function* (tunnels: ReadonlyArray<Store.Watched>) {
      const statuses = yield* edge.statuses(tunnels.map(({ routingToken }) => routingToken))
      const reports = new Map(
        Option.getOrElse(statuses.known, () => []).map((report) => [Redacted.value(report.token), report])
      )
      const up: Array<string> = []
      const down: Array<string> = []
      for (const { id, isUp, routingToken } of tunnels) {
        const report = reports.get(Redacted.value(routingToken))
        // An edge from before the echo says only whether an agent is connected.
        const served =
          (report?.reach === undefined && report?.connected === true) || isServed(reachOf(statuses, report))
        if (served === true && isUp !== true) up.push(id)
        if (served === false && isUp === true) down.push(id)
      }
      const now = yield* unixSeconds
      if (up.length > 0) yield* store.up({ ids: up, now })
      if (down.length > 0) yield* store.down({ ids: down, now })
    })

    const round = Effect.fn("TunnelWatches.round")(function* () {
      for (let after = ""; ;) {
        const tunnels = yield* store.page({ after, limit: perQuestion })
        const last = tunnels.at(-1)
        if (last === undefined) return
        yield* lookAt(tunnels)
        after = last.id
      }
    })

    return {
      lookAround: Effect.gen(function* () {
        if (!(yield* edge.askable)) return
        const now = yield* unixSeconds
        const taken = yield* store.takeRound({ now, next: now + alertIntervalSeconds })
        if (taken.length > 0) yield* round()
      })
    }
  })

  static readonly layerNoDeps = Layer.effect(TunnelWatches, TunnelWatches.make)
  static readonly layer = TunnelWatches.layerNoDeps.pipe(Layer.provide([EdgeFacts.layer]))
}
