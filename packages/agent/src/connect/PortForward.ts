/** Forwards local clients to a mesh origin: a TCP port, a UDP port, or stdin and stdout. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { isIPv6 } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import { abort } from "@catenet/wire/transport/Abort"
import { countReads } from "@catenet/wire/transport/BufferMemory"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { flushed } from "@catenet/wire/transport/Flushed"
import { splice } from "@catenet/wire/transport/Splice"
import { Effect, FiberSet, Schedule } from "effect"
import type { RemoteInfo } from "node:dgram"
import type { Socket } from "node:net"
import { pipeline } from "node:stream/promises"
import type { NoiseStream } from "../mesh/NoiseStream.ts"
import * as UdpRelay from "../mesh/UdpRelay.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import * as MeshClient from "./MeshClient.ts"

/** A new stream is retried for about ten seconds, so that a restart of edge or agent goes unnoticed. */
const patience = Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("1 second")]).pipe(
  Schedule.upTo({ duration: "10 seconds" })
)

const reach = (target: MeshClient.Target) => Effect.retry(MeshClient.open(target), patience)

const idleMillis = 60_000
/** Datagrams kept while their session is being opened. */
export const maxWaiting = 64
/** Sessions at a time; a datagram that would need one more is dropped. */
export const maxSessions = 1024
/** Local connections at a time; one more is closed. */
export const maxClients = 4096

const cannotListen = (address: HostPort) => (error: Error) =>
  ConfigurationInvalid.of(`--listen ${formatHostPort(address)}:`, error.message, "choose a free address")

const serveTcp = Effect.fnUntraced(function* (target: MeshClient.Target, client: Socket) {
  const stream = yield* reach(target)
  yield* Effect.promise((signal) => splice(client, stream, { signal, onFault: target.faults.report }))
})

/** Listens until interrupted; every connection has its own stream. */
export const tcp = Effect.fn("PortForward.tcp")(function* (target: MeshClient.Target, listen: HostPort) {
  const clients = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(clients)<Effect.Services<ReturnType<typeof serveTcp>>>()
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof Sockets.tcpServer>, Error>((resume) => {
      const listening = Sockets.tcpServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (client) => {
        guard(client, target.faults.ending(client))
        client.on("error", () => {})
        run(
          serveTcp(target, client).pipe(
            Effect.catch((error) => {
              abort(client)
              return Effect.logWarning(error.message)
            })
          )
        )
      })
      listening.maxConnections = maxClients
      listening.once("error", (error) => resume(Effect.fail(error)))
      listening.listen(listen.port, listen.host, () => resume(Effect.succeed(listening)))
    }).pipe(Effect.mapError(cannotListen(listen))),
    (listening) => Effect.sync(() => listening.close())
  )
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : listen.port
  yield* Effect.logInfo(`listening on ${formatHostPort({ host: listen.host, port })}`)
  return yield* Effect.never
})

/** Lives until neither side has sent anything for a minute. */
const serveUdp = Effect.fnUntraced(function* (
  stream: NoiseStream,
  touched: () => number,
  reply: (data: Uint8Array) => void
) {
  stream.on("data", reply)
  let seen = -1
  while (!stream.destroyed && !stream.readableEnded && touched() !== seen) {
    seen = touched()
    yield* Effect.sleep(idleMillis)
  }
  stream.destroy()
})

/** Listens until interrupted; every peer address has its own session. */
export const udp = Effect.fn("PortForward.udp")(function* (target: MeshClient.Target, listen: HostPort) {
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<Effect.Services<ReturnType<typeof reach>>>()
  const sessions = new Map<
    string,
    { readonly queue: Array<Uint8Array>; stream: NoiseStream | undefined; touched: number }
  >()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => Sockets.udpSocket(isIPv6(listen.host) ? "udp6" : "udp4")),
    (socket) => Effect.sync(() => void socket.close())
  )
  const deliver = (from: RemoteInfo) => (data: Uint8Array) => {
    const session = sessions.get(`${from.address} ${from.port}`)
    if (session !== undefined) session.touched++
    if (!UdpRelay.isCongested(socket)) socket.send(data, from.port, from.address)
  }
  // An error for one datagram loses only that datagram; all clients share the socket.
  guard(socket, target.faults.report)
  socket.on("message", (datagram, from) => {
    const key = `${from.address} ${from.port}`
    const known = sessions.get(key)
    if (known !== undefined) {
      known.touched++
      if (known.stream === undefined) {
        if (known.queue.length < maxWaiting) known.queue.push(datagram)
      } else if (!known.stream.writableNeedDrain) known.stream.write(datagram)
      return
    }
    if (sessions.size >= maxSessions) return
    const session = { queue: [datagram], stream: undefined as NoiseStream | undefined, touched: 0 }
    sessions.set(key, session)
    run(
      Effect.gen(function* () {
        const stream = yield* reach(target)
        session.stream = stream
        stream.on("error", () => {})
        for (const waiting of session.queue.splice(0)) stream.write(waiting)
        yield* serveUdp(stream, () => session.touched, deliver(from))
      }).pipe(
        Effect.catch((error) => Effect.logWarning(error.message)),
        Effect.ensuring(Effect.sync(() => sessions.delete(key)))
      )
    )
  })
  yield* Effect.callback<void, Error>((resume) => {
    socket.once("error", (error) => resume(Effect.fail(error)))
    socket.bind(listen.port, listen.host, () => {
      socket.on("error", () => {})
      resume(Effect.void)
    })
  }).pipe(Effect.mapError(cannotListen(listen)))
  yield* Effect.logInfo(`listening on udp ${formatHostPort({ host: listen.host, port: socket.address().port })}`)
  return yield* Effect.never
})

/** One stream, joined with stdin and stdout; ends when the origin has ended. */
export const stdio = Effect.fn("PortForward.stdio")(function* (target: MeshClient.Target) {
  const stream = yield* reach(target)
  process.stdin.pipe(stream)
  countReads(process.stdin)
  yield* Effect.tryPromise({
    try: async (signal) => {
      const done = pipeline(stream, process.stdout, { end: false, signal })
      countReads(stream)
      await done
      await flushed(process.stdout)
    },
    catch: (error) =>
      new MeshClient.RendezvousFailed({ edge: formatHostPort(target.edge), why: `cut: ${String(error)}` })
  })
})
