/** Dials the edge's channel ports by QUIC. Where that has failed it is left out for a while: a member joins twice for a session. */
import { Sockets } from "@catenet/platform/Sockets"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Clock, Effect, Exit, Option, Result, Scope } from "effect"
import { once } from "node:events"
import { QuicDial } from "../../carrier/QuicDial.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../../settings/HostPort.ts"
import { DialFailed } from "../../tunnel/EdgeDial.ts"
import type { ConnectionStrategy } from "./ConnectionStrategies.ts"
import { QuicBrokerConnection } from "./QuicBrokerConnection.ts"

/** Data-plane 1.4: milliseconds. */
const transport = { keepAlive: 5_000, idle: 20_000, streams: 4 }
const leftOutMillis = 300_000
/** For what was said last to arrive, where the edge does not close the connection first. */
const leaveLimit = "30 seconds"

/** Until when each address is left out, in epoch milliseconds. */
const leftOut = new Map<string, number>()

/** This machine's address on the way there; no packet is sent. */
const ownAddress = Effect.fnUntraced(function* ({ address, port }: QuicConnection["remote"]) {
  const socket = Sockets.udpSocket(address.includes(":") ? "udp6" : "udp4")
  return yield* Effect.tryPromise(async () => {
    socket.connect(port, address)
    await once(socket, "connect")
    return socket.address().address
  }).pipe(
    Effect.orElseSucceed(() => undefined),
    Effect.ensuring(Effect.sync(() => socket.close()))
  )
})

const endWith = (connection: QuicConnection, leg: QuicBrokerConnection, scope: Scope.Closeable) =>
  Effect.promise(() => new Promise((resolve) => void leg.once("close", resolve))).pipe(
    Effect.andThen(
      Effect.timeoutOption(
        Effect.promise(() => connection.closed),
        leaveLimit
      )
    ),
    Effect.andThen(Scope.close(scope, Exit.void)),
    Effect.forkDetach({ startImmediately: true })
  )

/** The stream on which the member joins, which keeps its connection and the process that carries it. */
export const dial = Effect.fn("QuicChannelDial.dial")(function* ({
  address,
  dialMillis: millis,
  root,
  serverName
}: ConnectionStrategy) {
  const { ending } = yield* AgentMetrics
  const edge = formatHostPort(address)
  const failed = (why: string, untrusted = false) => new DialFailed({ edge, why, untrusted })
  const quic = yield* Effect.serviceOption(QuicDial)
  if (Option.isNone(quic)) return yield* failed("QUIC is not installed")
  const scope = yield* Scope.make()
  const connection = yield* quic.value.dial({ ...address, millis, roots: root, serverName, transport }).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void)),
    Effect.tapError(() => Effect.map(Clock.currentTimeMillis, (now) => void leftOut.set(edge, now + leftOutMillis))),
    Effect.mapError(({ isUntrusted, why }) => failed(`${why} by QUIC`, isUntrusted))
  )
  const join = connection.open()
  if (Result.isFailure(join)) return yield* failed(join.failure.message)
  const leg = new QuicBrokerConnection(connection, join.success, yield* ownAddress(connection.remote))
  guard(leg, ending(leg))
  leg.on("error", () => {})
  yield* endWith(connection, leg, scope)
  return leg
})

/** Whether it is tried there now. */
export const isTried = Effect.fnUntraced(function* (address: HostPort) {
  const quic = yield* Effect.serviceOption(QuicDial)
  const now = yield* Clock.currentTimeMillis
  return Option.isSome(quic) && quic.value.isInstalled && (leftOut.get(formatHostPort(address)) ?? 0) <= now
})
