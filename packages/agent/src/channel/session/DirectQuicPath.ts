/**
 * A direct path by QUIC (data-plane 8.5): one stream on which both members prove their Noise keys. TLS authenticates nobody,
 * because members do not know each other's certificates.
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Clock, Effect, Exit, FiberSet, Option, Result, Scope } from "effect"
import { QuicDial } from "../../carrier/QuicDial.ts"
import * as DirectQuicListener from "../../mesh/DirectQuicListener.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../../settings/HostPort.ts"
import { OriginDown } from "../../tunnel/Origin.ts"
import { left, PeerQuicConnection } from "./PeerQuicConnection.ts"

/** Connections at the listener that have opened no stream. */
const maxSilent = 64
/** Data-plane 1.4: milliseconds, and the one stream that a peer opens. */
const transport = { keepAlive: 5_000, idle: 20_000, streams: 1 }
const firstStream = "5 seconds"

/** QUIC of this process; undefined if unavailable. */
const installed = Effect.map(
  Effect.serviceOption(QuicDial),
  Option.filter(({ isInstalled }) => isInstalled)
)

const linkOf = Effect.fnUntraced(function* (connection: QuicConnection, stream: CarrierStream) {
  const { ending } = yield* AgentMetrics
  const link = new PeerQuicConnection(connection, stream)
  return guard(link, ending(link))
})

/** Connects to a member; `roots` is the certificate that its operator has named. Undefined where QUIC is not installed. */
export const dialer = (address: HostPort, roots: string | undefined) =>
  Effect.map(installed, (quic) =>
    Option.isNone(quic)
      ? undefined
      : Effect.gen(function* () {
          const failed = (why: string) => new OriginDown({ origin: formatHostPort(address), why, late: false })
          const scope = yield* Scope.make()
          const connection = yield* quic.value.dial({ ...address, roots, transport }).pipe(
            Scope.provide(scope),
            Effect.onError(() => Scope.close(scope, Exit.void)),
            Effect.mapError(({ why }) => failed(`${why} by QUIC`))
          )
          const opened = connection.open()
          if (Result.isFailure(opened)) {
            yield* Scope.close(scope, Exit.void)
            return yield* failed(opened.failure.message)
          }
          const link = yield* linkOf(connection, opened.success)
          yield* Effect.forkDetach(Effect.andThen(left(link, connection), Scope.close(scope, Exit.void)), {
            startImmediately: true
          })
          return link
        })
  )

/** Listens beside the port on TCP, at the same number, once the process is up. Nothing waits for it, and no failure matters. */
export const listen = Effect.fn("DirectQuicPath.listen")(function* (
  { host: address, port }: HostPort,
  receive: (link: PeerQuicConnection) => void
) {
  const quic = yield* installed
  if (Option.isNone(quic)) return
  // Closing the port ends its connections, so it stays open until the last of them has ended.
  const own = yield* Scope.make()
  const run = yield* Scope.provide(FiberSet.makeRuntime<AgentMetrics>(), own)
  let isOver = false
  let open = 0
  let silent = 0
  const ended = Effect.suspend(() => (isOver && open === 0 ? Scope.close(own, Exit.void) : Effect.void))
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isOver = true
      return ended
    })
  )

  const serve = Effect.fnUntraced(function* (connection: QuicConnection) {
    const first = Promise.withResolvers<CarrierStream>()
    connection.take(first.resolve)
    const stream = yield* Effect.timeoutOption(
      Effect.promise(() => Promise.race([first.promise, connection.closed.then(() => undefined)])),
      firstStream
    ).pipe(Effect.ensuring(Effect.sync(() => silent--)))
    if (Option.isNone(stream) || stream.value === undefined) return connection.close()
    const link = yield* linkOf(connection, stream.value)
    receive(link)
    yield* left(link, connection)
    connection.close()
  })

  const connected = (connection: QuicConnection) => {
    open++
    const gone = Effect.suspend(() => {
      open--
      return Effect.forkDetach(ended)
    })
    run(Effect.ensuring(serve(connection), gone))
  }

  yield* Effect.gen(function* () {
    const side = yield* quic.value.process
    const { certificate, key } = DirectQuicListener.selfSignedCertificate(yield* Clock.currentTimeMillis)
    const at = { address, port }
    yield* side.listen({ at, certificate: Certificate.pem(certificate), key, transport }, () => {
      if (isOver || silent >= maxSilent) return undefined
      silent++
      return { connected, failed: () => void silent-- }
    })
    yield* Effect.logDebug(`peers may come by QUIC to ${formatHostPort({ host: address, port })}`)
  }).pipe(
    Scope.provide(own),
    Effect.catch(({ why }) => Effect.logDebug(`no direct path by QUIC: ${why}`)),
    Effect.forkIn(own)
  )
})
