/**
 * A direct path between two members: TCP, or QUIC on the same port, with the same Noise session. On any failure the relay is
 * used. A client that does not prove the peer's key gets no data.
 */
import * as Address from "@catenet/crypto/admission/Address"
import type { Agreement } from "@catenet/crypto/admission/KeyExchange"
import type { KeyPair } from "@catenet/crypto/Suite"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import { abort } from "@catenet/wire/transport/Abort"
import { guarded, guard } from "@catenet/wire/transport/FaultBoundary"
import { Deferred, Effect, FiberSet, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as Equal from "effect/Equal"
import type { Server, Socket } from "node:net"
import { keepAliveMillis } from "../../carrier/OutgoingProxy.ts"
import type { NoiseStream } from "../../mesh/NoiseStream.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort, parseHostPort } from "../../settings/HostPort.ts"
import * as Origin from "../../tunnel/Origin.ts"
import * as DirectQuicPath from "./DirectQuicPath.ts"
import * as KeyProof from "./KeyProof.ts"
import { PeerQuicConnection } from "./PeerQuicConnection.ts"

/** Connections at the listener that have proved nothing. Addresses share them. */
export const maxStrangers = 64
const dialBound = "5 seconds"
const headStart = "500 millis"
const waitBound = "8 seconds"

/** The transport of a direct session. */
export type Link = Socket | PeerQuicConnection

/** Receives a connection, and reports when its peer has proved itself. */
type Take = (link: Link, proved: () => void) => void

export const carrierOf = (link: Link) => (link instanceof PeerQuicConnection ? "direct-quic" : "direct")

/** A port at which one peer at a time is awaited; other connections are closed meanwhile. */
export interface Listener {
  readonly address: HostPort
  /** Passes every connection to `take` until the returned function is called. */
  readonly receive: (take: Take) => () => void
}

/** A direct path, proved at both ends. */
export interface Direct {
  readonly socket: Link
  readonly stream: NoiseStream
}

const cannotListen = (address: HostPort) => (error: Error) =>
  ConfigurationInvalid.of(
    `The listener at ${formatHostPort(address)}`,
    `cannot be opened (${error.message})`,
    "choose another address, or set CT_CHANNEL_RELAY_ONLY=1"
  )

/** The listener, for as long as the scope is open. */
export const listen = Effect.fn("DirectPath.listen")(function* (address: HostPort) {
  const { ending } = yield* AgentMetrics
  let take: Take | undefined
  const strangers = new FairPlaces(maxStrangers)
  const receive = (link: Link) => {
    if (take === undefined) return void abort(link)
    const stranger = { isIdle: () => true, evict: () => void abort(link) }
    const known = strangers.take(addressBlock(link.remoteAddress ?? ""), stranger)
    if (known === undefined) return void abort(link)
    link.once("close", known)
    guarded(ending(link), take)(link, known)
  }
  const receiveSocket = (socket: Socket) => {
    guard(socket, ending(socket))
    socket.on("error", () => {})
    socket.setKeepAlive(true, keepAliveMillis)
    receive(socket)
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<Server, Error>((resume) => {
      const listening = Sockets.tcpServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, receiveSocket)
      listening.once("error", (error) => resume(Effect.fail(error)))
      listening.listen(address.port, address.host, () => {
        listening.on("error", () => {})
        resume(Effect.succeed(listening))
      })
    }).pipe(Effect.mapError(cannotListen(address))),
    (listening) => Effect.sync(() => void listening.close())
  )
  const bound = server.address()
  const { address: host, port } =
    bound !== null && typeof bound === "object" ? bound : { ...address, address: address.host }
  yield* DirectQuicPath.listen({ host, port }, receive)
  const listener: Listener = {
    address: { host: address.host, port },
    receive: (next) => {
      take = next
      return () => {
        take = undefined
      }
    }
  }
  return listener
})

/** Waits for a connection that proves the peer's key. Others are closed, and do not hold it up. */
export const awaitPeer = Effect.fn("DirectPath.awaitPeer")(function* (
  listener: Listener,
  noise: KeyPair,
  peerKey: Uint8Array,
  agreement?: Agreement
) {
  const found = yield* Deferred.make<Direct>()
  const run = yield* FiberSet.makeRuntime<AgentMetrics | SecureRandom.SecureRandom>()
  const prove = (socket: Link, proved: () => void) =>
    Effect.flatMap(KeyProof.prove(socket, noise, peerKey, false, agreement), (stream) => {
      proved()
      return Effect.map(Deferred.succeed(found, { socket, stream }), (isFirst) => {
        if (!isFirst) stream.destroy()
      })
    }).pipe(Effect.ignore)
  const stop = listener.receive((socket, proved) => void run(prove(socket, proved)))
  yield* Effect.addFinalizer(() => Effect.sync(stop))
  return yield* Deferred.await(found)
}, Effect.scoped)

/** The same with a time limit; undefined if the peer does not come. */
export const awaitBriefly = (listener: Listener, noise: KeyPair, peerKey: Uint8Array, agreement?: Agreement) =>
  Effect.timeoutOption(awaitPeer(listener, noise, peerKey, agreement), waitBound)

const byTcp = Effect.fnUntraced(function* (address: HostPort) {
  const { ending } = yield* AgentMetrics
  const socket = yield* Origin.dial(address)
  guard(socket, ending(socket))
  socket.setKeepAlive(true, keepAliveMillis)
  return socket
})

/** The first of both that connects. QUIC needs a process, so TCP goes first until it fails or takes too long. */
const connect = Effect.fnUntraced(function* (address: HostPort, roots: string | undefined) {
  const byQuic = yield* DirectQuicPath.dialer(address, roots)
  if (byQuic === undefined) return yield* byTcp(address)
  const failed = yield* Deferred.make<void>()
  const made: Array<Link> = []
  const making = <E, R>(connecting: Effect.Effect<Link, E, R>) =>
    Effect.tap(connecting, (link) => Effect.sync(() => made.push(link)))
  const first = yield* Effect.race(
    making(Effect.onError(byTcp(address), () => Deferred.succeed(failed, undefined))),
    Effect.andThen(Effect.timeoutOption(Deferred.await(failed), headStart), making(byQuic))
  )
  for (const link of made) if (link !== first) link.destroy()
  return first
})

/** Connects to the peer and proves both keys. `roots` is the certificate by QUIC that the operator has named. */
export const dial = Effect.fn("DirectPath.dial")(function* (
  address: HostPort,
  noise: KeyPair,
  peerKey: Uint8Array,
  roots?: string,
  agreement?: Agreement
) {
  const socket = yield* connect(address, roots)
  const stream = yield* KeyProof.prove(socket, noise, peerKey, true, agreement)
  const direct: Direct = { socket, stream }
  return direct
})

/** The same for a while; none on any failure. */
export const dialBriefly = (address: HostPort, noise: KeyPair, peerKey: Uint8Array, agreement?: Agreement) =>
  Effect.option(Effect.timeout(dial(address, noise, peerKey, undefined, agreement), dialBound))

/** Where to dial for this endpoint. A peer must not make this member connect to addresses of a local network. */
export const dialable = (endpoint: string): HostPort | undefined => {
  const parsed = Address.parse(endpoint)
  if (Result.isFailure(parsed) || !Address.isGlobal(parsed.success.address) || parsed.success.port === 0)
    return undefined
  return { host: hostOf(endpoint), port: parsed.success.port }
}

const hostOf = (endpoint: string) => endpoint.slice(0, endpoint.lastIndexOf(":")).replace(/^\[|\]$/g, "")

/** The advertised address: names are resolved, and port 0 becomes the listener's. */
export const resolve = Effect.fn("DirectPath.resolve")(function* (advertised: string, port: number) {
  const parsed = parseHostPort(advertised)
  const host = parsed?.host ?? ""
  const found = yield* Effect.tryPromise({
    try: () => Sockets.lookup(host),
    catch: () =>
      ConfigurationInvalid.of("CT_CHANNEL_ADVERTISE", `names ${host}, which has no address`, "correct the name")
  })
  return formatHostPort({ host: found.address, port: parsed === undefined || parsed.port === 0 ? port : parsed.port })
})

/** Whether the peer can reach this member at all: not if its own address is translated by a NAT. */
export const isReachable = (advertised: string, observed: string | undefined): boolean => {
  const own = Address.parse(advertised)
  const seen = observed === undefined ? undefined : Address.parse(observed)
  if (Result.isFailure(own) || seen === undefined || Result.isFailure(seen)) return true
  const [a, b] = [own.success.address, seen.success.address]
  if (a._tag !== b._tag || !Address.isGlobal(a) || !Address.isGlobal(b)) return true
  return Equal.equals(a, b)
}
