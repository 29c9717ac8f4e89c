/**
 * Visitors of a public port. Bytes of a TCP port go to the origin as they come; the origin is dialled at once, because in many
 * protocols the server speaks first. Each client of a UDP port has a socket of its own to the origin.
 */
import { abort } from "@catenet/wire/transport/Abort"
import { DatagramStream } from "@catenet/wire/transport/DatagramStream"
import { splice } from "@catenet/wire/transport/Splice"
import { Effect } from "effect"
import * as UdpRelay from "../mesh/UdpRelay.ts"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import { hostPortOf } from "../settings/OriginAddress.ts"
import * as BrowserClients from "../tunnel/BrowserClients.ts"
import type { OpenOrigin } from "../tunnel/OriginConnections.ts"

const nothing = new Uint8Array()

const ofTcp = (origin: OpenOrigin, metrics: AgentMetrics["Service"]): BrowserClients.Handler => {
  const { connect, failed } = BrowserClients.joining(origin, metrics)
  return Effect.fnUntraced(
    function* (stream, header, taken = nothing) {
      const socket = yield* connect(header)
      const { close, counters } = metrics.openStream()
      metrics.traffic.tunnelsOpened++
      if (metrics.requests.count !== undefined) metrics.requests.count++
      if (taken.length > 0) socket.write(taken)
      counters.aToB += taken.length
      yield* Effect.promise((signal) => splice(stream, socket, { counters, onFault: metrics.fault, signal })).pipe(
        Effect.ensuring(Effect.sync(close))
      )
    },
    (serving, stream) => Effect.catchTag(serving, "OriginDown", failed(stream))
  )
}

const ofUdp = (origin: OpenOrigin, metrics: AgentMetrics["Service"]): BrowserClients.Handler => {
  const join = UdpRelay.join(hostPortOf(origin.place), metrics)
  return (stream, _header, taken = nothing) =>
    Effect.suspend(() => {
      if (taken.length > 0) stream.unshift(taken)
      return join(new DatagramStream(stream))
    })
}

/** Serves the visitors of a tunnel with a public port at the origin, over its protocol. */
export const make = (origin: OpenOrigin, metrics: AgentMetrics["Service"]): BrowserClients.Handler => {
  const serve = origin.protocol === "udp" ? ofUdp(origin, metrics) : ofTcp(origin, metrics)
  return (stream, header, taken) =>
    // A client of the mesh would expect a Noise handshake.
    header?.kind === "mesh"
      ? Effect.sync(() => abort(stream, "refused", "this tunnel has a public port"))
      : serve(stream, header, taken)
}
