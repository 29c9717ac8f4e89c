/**
 * The mesh port on UDP, where the QUIC process is installed. It comes up beside the other listeners and holds none of them up; without
 * it agents and clients use TLS on the same port.
 */
import type { Address } from "@catenet/config/NetworkParser"
import * as QuicProcess from "@catenet/quic/process/QuicProcess"
import * as QuicProgram from "@catenet/quic/process/QuicProgram"
import type { QuicConnection } from "@catenet/quic/QuicConnection"
import { Effect } from "effect"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import type { Admitted, ConnectionLimiter } from "../listen/ConnectionLimiter.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import { QuicPeers } from "./QuicPeers.ts"

/** Data-plane 1.4: milliseconds, and streams that a peer may open at a time. */
const transport = { keepAlive: 3_000, idle: 10_000, streams: 100 }

/** The place of a connection, until it ends. */
const placeOf = (remoteAddress: string) => {
  const left = new Set<() => void>()
  const place: Admitted = { remoteAddress, once: (_, leave) => left.add(leave) }
  return { place, leave: () => left.forEach((leave) => leave()) }
}

const listen = Effect.fn("QuicListener.listen")(function* (
  program: QuicProgram.QuicProgram,
  { host, port }: Address,
  limiter: ConnectionLimiter
) {
  const { leaf } = yield* CertificateAuthority
  const counters = yield* Counters
  const peers = yield* QuicPeers
  const quic = yield* QuicProcess.start(program)
  const incoming = ({ address }: { readonly address: string }) => {
    const { leave, place } = placeOf(address)
    if (!limiter.admit(place, "mesh-quic")) return undefined
    return {
      connected: (connection: QuicConnection) => {
        void connection.closed.then(leave)
        peers.serve(connection)
      },
      failed: () => {
        counters.handshakesFailed += 1
        leave()
      }
    }
  }
  const { cert: certificate, key } = leaf.current
  yield* quic.listen({ at: { address: host, port }, certificate, key, transport }, incoming)
  yield* Effect.addFinalizer(() => Effect.sync(peers.closeAll))
  yield* Effect.logInfo("QUIC is listened for").pipe(Effect.annotateLogs({ udp: `${host}:${port}` }))
})

/** Starts it at the port of the mesh listener; a failure is logged unless QUIC was asked for. */
export const open = Effect.fn("QuicListener.open")(function* (address: Address, limiter: ConnectionLimiter) {
  const { quic } = yield* Settings
  if (quic === "off") return
  const program = QuicProgram.find()
  if (program === undefined) {
    if (quic === "on")
      yield* Effect.logWarning(
        "CT_EDGE_QUIC is on, and the runtime of the QUIC process is not installed; agents and clients use TLS"
      )
    return
  }
  yield* Effect.forkScoped(
    listen(program, address, limiter).pipe(
      Effect.andThen(Effect.never),
      Effect.catch((error) => Effect.logWarning("QUIC is not listened for", error.message)),
      Effect.scoped
    )
  )
})
