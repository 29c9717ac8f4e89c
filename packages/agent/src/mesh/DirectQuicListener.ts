/**
 * The agent's own QUIC port for mesh clients of the reference kind: they get its address and certificate from the edge (`D` and
 * `P`, data-plane 4.6) and trust only that certificate. One stream per connection is served, with the same Noise session as on
 * TCP; a client that does not prove itself is disconnected.
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { Entropy } from "@catenet/platform/Entropy"
import { isIPv6 } from "@catenet/platform/IpAddress"
import type { DirectListener } from "@catenet/wire/frames/QuicRole"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import { Clock, Effect } from "effect"
import type { Duplex } from "node:stream"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as QuicRequest from "../carrier/QuicRequest.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import { formatHostPort } from "../settings/HostPort.ts"
import { dialQuic } from "../tunnel/EdgeConnection.ts"
import { maxStrangers } from "./DirectListener.ts"

/**
 * The self-signed certificate of an agent's own port, for clients that trust it alone or authenticate the agent on the stream.
 * Created at each start.
 */
const day = 86_400_000
const validDays = 3_650

export interface SelfSigned {
  /** DER. */
  readonly certificate: Buffer
  /** PEM. */
  readonly key: string
}

/** `now` in epoch milliseconds. */
export const selfSignedCertificate = (now: number): SelfSigned => {
  const privateKey = Entropy.newEcKey()
  const validity = { from: now - day, until: now + validDays * day }
  const certificate = Certificate.mintLeaf("localhost", privateKey, privateKey, ["localhost"], validity)
  return { certificate, key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() }
}

const transport = { keepAlive: 5_000, idle: 30_000, streams: 1 }
/** The close code for a client that proved nothing. */
const unproved = 1
/** In which a client opens its stream. */
const firstStream = "5 seconds"

export interface Options {
  readonly advertise: string
  /** 0 for any free port. */
  readonly port: number
  /** Serves a client; calls `admitted` when it has proved itself. */
  readonly serve: (stream: Duplex, admitted: () => void) => void
}

/** The agent's current address; undefined without a port. */
export const open = Effect.fn("DirectQuicListener.open")(function* ({ advertise, port, serve }: Options) {
  const quic = yield* QuicDial
  if (!quic.isInstalled) return undefined
  const { certificate, key } = selfSignedCertificate(yield* Clock.currentTimeMillis)
  const run = Effect.runForkWith(yield* Effect.context())
  let strangers = 0
  const connected = (connection: QuicConnection) => {
    let isStrange = true
    let isTaken = false
    const known = () => {
      if (isStrange) strangers--
      isStrange = false
    }
    const silent = run(
      Effect.andThen(
        Effect.sleep(firstStream),
        Effect.sync(() => void (isTaken || connection.close(unproved)))
      )
    )
    void connection.closed.then(() => {
      known()
      silent.interruptUnsafe()
    })
    connection.take((stream) => {
      if (isTaken) return stream.reset("refused", "one stream of a connection is served")
      isTaken = true
      // A served client closes the connection itself, because the last data may be in transit.
      stream.once("close", () => void (isStrange && connection.close(unproved)))
      serve(stream, known)
    })
  }
  const listen = Effect.fnUntraced(function* (address: string) {
    const side = yield* quic.process
    return yield* side.listen(
      { at: { address, port }, certificate: Certificate.pem(certificate), key, transport },
      () => {
        if (strangers >= maxStrangers) return undefined
        strangers++
        return { connected, failed: () => void strangers-- }
      }
    )
  })
  // Behind port forwarding, the advertised address is not this machine's own.
  const everywhere = isIPv6(advertise) ? "::" : "0.0.0.0"
  return yield* listen(advertise).pipe(
    Effect.catch(() => listen(everywhere)),
    Effect.map((at): DirectListener => ({ address: formatHostPort({ host: advertise, port: at.port }), certificate })),
    Effect.tap(({ address }) => Effect.logInfo(`clients may come directly by QUIC to ${address}`)),
    Effect.catch(({ why }) => Effect.as(Effect.logWarning(`no direct path by QUIC: ${why}`), undefined))
  )
})

/** Tells the edge, on a connection of its own; an edge without QUIC does not learn it. */
export const advertise = Effect.fn("DirectQuicListener.advertise")(
  function* (token: Uint8Array, listener: DirectListener) {
    const { connection } = yield* dialQuic(yield* ConnectionInfo)
    if ((yield* QuicRequest.admitted(connection, { role: "D", token, listener })) !== true)
      yield* Effect.logDebug("the edge does not pass on where the agent is reached by QUIC")
  },
  Effect.scoped,
  Effect.catch(({ message }) => Effect.logDebug(message))
)
