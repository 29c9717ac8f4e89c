/**
 * Dials the edge's channel ports by QUIC. After a failure QUIC is skipped for a while, because a member joins twice for each
 * session.
 */
import { Sockets } from "@catenet/platform/Sockets"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Clock, Effect, Exit, Option, Result, Scope } from "effect"
import { once } from "node:events"
import { Duplex } from "node:stream"
import { QuicDial } from "../../carrier/QuicDial.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../../settings/HostPort.ts"
import { DialFailed } from "../../tunnel/EdgeDial.ts"
import type { ConnectionStrategy } from "./ConnectionStrategies.ts"

/**
 * A member's QUIC connection as one stream (data-plane 7.2 and 8.1): the join is its first stream and ends with the
 * acknowledgement; the session is another stream, opened by the member that speaks first.
 */
const parkExpired = "park-expired:"
const newline = 0x0a

type Done = (error?: Error | null) => void

class QuicBrokerConnection extends Duplex {
  readonly #connection: QuicConnection
  readonly #join: CarrierStream
  #session: CarrierStream | undefined
  #isJoined = false
  #isProved = false
  #last: number | undefined
  /** The first two bytes of the answer after the challenge. */
  #said = ""
  readonly localAddress: string | undefined
  bytesRead = 0
  bytesWritten = 0

  constructor(connection: QuicConnection, join: CarrierStream, localAddress: string | undefined) {
    super({ allowHalfOpen: true })
    this.localAddress = localAddress
    this.#connection = connection
    this.#join = join
    connection.take((stream) => {
      if (this.#session !== undefined) return stream.reset("refused", "the session has one stream")
      this.#attach(stream)
    })
    this.#read(join)
    join.once("end", () => this.#joined())
    void connection.closed.then(({ reason }) => {
      if (!this.#isJoined && reason.startsWith(parkExpired)) this.push("EX")
      if (this.#isJoined && this.#session !== undefined && !this.readableEnded) this.destroy()
      else this.push(null)
    })
  }

  /** The next write is the proof, after which this member sends nothing more on the join's stream. */
  proves(): void {
    this.#isProved = true
  }

  override _read(): void {
    ;(this.#session ?? this.#join).resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.bytesWritten += chunk.length
    if (this.#isJoined) {
      const session = this.#session ?? this.#open()
      if (session !== undefined) session.write(chunk, done)
    } else if (this.#isProved) this.#join.end(chunk, done)
    else this.#join.write(chunk, done)
  }

  override _final(done: Done): void {
    if (this.#session !== undefined) return void this.#session.end(done)
    this.#connection.close()
    done()
  }

  /** The last message is in transit: the edge closes the connection, or this process ends it. */
  override _destroy(error: Error | null, done: Done): void {
    if (!(this.readableEnded && this.writableFinished)) this.#connection.close()
    done(error)
  }

  #joined(): void {
    this.#isJoined = true
    // The line ends with the stream. Without an acknowledgement the join is over.
    if (this.#last === undefined || !this.#isProved || this.#said !== "OK") return void this.push(null)
    if (this.#last !== newline) this.push("\n")
  }

  #open(): CarrierStream | undefined {
    const opened = this.#connection.open()
    if (Result.isSuccess(opened)) return this.#attach(opened.success)
    this.destroy()
    return undefined
  }

  #attach(session: CarrierStream): CarrierStream {
    this.#session = session
    this.#read(session)
    session.once("end", () => this.push(null))
    session.once("close", () => {
      if (session.resetBy !== undefined) this.destroy()
    })
    session.resume()
    return session
  }

  #read(stream: CarrierStream): void {
    stream.on("data", (chunk: Buffer) => {
      this.bytesRead += chunk.length
      if (stream === this.#join) this.#look(chunk)
      if (!this.push(chunk)) stream.pause()
    })
  }

  /** First the challenge of 32 bytes; the edge's answer after it begins with `OK`. */
  #look(chunk: Buffer): void {
    this.#last = chunk.at(-1)
    if (this.#isProved && this.#said.length < 2) this.#said = (this.#said + chunk.toString("latin1", 0, 2)).slice(0, 2)
  }
}

/** Data-plane 1.4: milliseconds. */
const transport = { keepAlive: 5_000, idle: 20_000, streams: 4 }
const leftOutMillis = 300_000
/** Time for the last message to arrive, if the edge does not close the connection first. */
const leaveLimit = "30 seconds"

/** Until when each address is skipped, in epoch milliseconds. */
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
