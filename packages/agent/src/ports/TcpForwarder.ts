/**
 * Visitors of a public TCP port: their bytes go to the origin as they come. The origin is dialled at once, because in many protocols
 * the server speaks first.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { splice } from "@catenet/wire/transport/Splice"
import { Effect } from "effect"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { Origin } from "../settings/Settings.ts"
import * as BrowserClients from "../tunnel/BrowserClients.ts"

const nothing = new Uint8Array()

export const make = (origin: Origin, metrics: AgentMetrics["Service"]): BrowserClients.Handler => {
  const { connect, failed } = BrowserClients.joining(origin, metrics)
  return Effect.fnUntraced(
    function* (stream, header, taken = nothing) {
      // A client of the mesh would expect a Noise handshake.
      if (header?.kind === "mesh") return abort(stream, "refused", "this tunnel has a public port")
      const socket = yield* connect(header)
      const { close, counters } = metrics.openStream()
      metrics.traffic.tunnelsOpened++
      if (taken.length > 0) socket.write(taken)
      counters.aToB += taken.length
      yield* Effect.promise((signal) => splice(stream, socket, { counters, onFault: metrics.fault, signal })).pipe(
        Effect.ensuring(Effect.sync(close))
      )
    },
    (serving, stream) => Effect.catchTag(serving, "OriginDown", failed(stream))
  )
}
