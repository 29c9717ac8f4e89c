/**
 * The way between two members without an edge: TCP, and on it the same Noise session. Every failure on this way leaves the relay. Who
 * reaches the port and does not prove the peer's key gets no byte.
 */
import { ConfigurationInvalid } from "@catenet/config/ConfigurationInvalid"
import * as Address from "@catenet/crypto/admission/Address"
import type { KeyPair } from "@catenet/crypto/Suite"
import { contained, guard } from "@catenet/wire/transport/FaultBoundary"
import { Deferred, Effect, FiberSet, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as Equal from "effect/Equal"
import { lookup } from "node:dns/promises"
import { createServer, type Server, type Socket } from "node:net"
import { keepAliveMillis } from "../../carrier/KeepAlive.ts"
import type { NoiseStream } from "../../mesh/NoiseStream.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort, parseHostPort } from "../../settings/HostPort.ts"
import * as Origin from "../../tunnel/Origin.ts"
import * as KeyProof from "./KeyProof.ts"

/** Connections at the listener that have proved nothing. */
export const mostStrangers = 64
const dialBound = "5 seconds"
const waitBound = "8 seconds"

/** Gets a connection, and says when its peer has proved itself. */
type Take = (socket: Socket, proved: () => void) => void

/** A port at which one peer at a time is waited for; connections that come meanwhile are closed. */
export interface Listener {
  readonly address: HostPort
  /** Gives every connection to `take` until the result is called. */
  readonly receive: (take: Take) => () => void
}

/** A direct path, proved at both ends. */
export interface Direct {
  readonly socket: Socket
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
  let strangers = 0
  const receive = (socket: Socket) => {
    guard(socket, ending(socket))
    socket.on("error", () => {})
    if (take === undefined || strangers >= mostStrangers) return void socket.resetAndDestroy()
    strangers++
    let isStrange = true
    const known = () => {
      if (isStrange) strangers--
      isStrange = false
    }
    socket.once("close", known)
    socket.setKeepAlive(true, keepAliveMillis)
    contained(ending(socket), take)(socket, known)
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<Server, Error>((resume) => {
      const listening = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, receive)
      listening.once("error", (error) => resume(Effect.fail(error)))
      listening.listen(address.port, address.host, () => {
        listening.on("error", () => {})
        resume(Effect.succeed(listening))
      })
    }).pipe(Effect.mapError(cannotListen(address))),
    (listening) => Effect.sync(() => void listening.close())
  )
  const bound = server.address()
  const listener: Listener = {
    address: { host: address.host, port: bound !== null && typeof bound === "object" ? bound.port : address.port },
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
  peerKey: Uint8Array
) {
  const found = yield* Deferred.make<Direct>()
  const run = yield* FiberSet.makeRuntime<AgentMetrics | SecureRandom.SecureRandom>()
  const prove = (socket: Socket, proved: () => void) =>
    Effect.flatMap(KeyProof.prove(socket, noise, peerKey, false), (stream) => {
      proved()
      return Effect.map(Deferred.succeed(found, { socket, stream }), (isFirst) => {
        if (!isFirst) stream.destroy()
      })
    }).pipe(Effect.ignore)
  const stop = listener.receive((socket, proved) => void run(prove(socket, proved)))
  yield* Effect.addFinalizer(() => Effect.sync(stop))
  return yield* Deferred.await(found)
}, Effect.scoped)

/** The same for a while; none when the peer does not come. */
export const awaitBriefly = (listener: Listener, noise: KeyPair, peerKey: Uint8Array) =>
  Effect.timeoutOption(awaitPeer(listener, noise, peerKey), waitBound)

/** Connects to the peer and proves both keys. */
export const dial = Effect.fn("DirectPath.dial")(function* (address: HostPort, noise: KeyPair, peerKey: Uint8Array) {
  const { ending } = yield* AgentMetrics
  const socket = yield* Origin.dial(address)
  guard(socket, ending(socket))
  socket.setKeepAlive(true, keepAliveMillis)
  const stream = yield* KeyProof.prove(socket, noise, peerKey, true)
  const direct: Direct = { socket, stream }
  return direct
})

/** The same for a while; none on any failure. */
export const dialBriefly = (address: HostPort, noise: KeyPair, peerKey: Uint8Array) =>
  Effect.option(Effect.timeout(dial(address, noise, peerKey), dialBound))

/** Where to dial for this endpoint. A peer must not make this member connect to addresses of a local network. */
export const dialable = (endpoint: string): HostPort | undefined => {
  const parsed = Address.parse(endpoint)
  if (Result.isFailure(parsed) || !Address.isGlobal(parsed.success.address) || parsed.success.port === 0)
    return undefined
  return { host: hostOf(endpoint), port: parsed.success.port }
}

const hostOf = (endpoint: string) => endpoint.slice(0, endpoint.lastIndexOf(":")).replace(/^\[|\]$/g, "")

/** What peers get to know, as an address: a name is looked up, and port 0 is the listener's. */
export const resolve = Effect.fn("DirectPath.resolve")(function* (advertised: string, port: number) {
  const parsed = parseHostPort(advertised)
  const host = parsed?.host ?? ""
  const found = yield* Effect.tryPromise({
    try: () => lookup(host),
    catch: () =>
      ConfigurationInvalid.of("CT_CHANNEL_ADVERTISE", `names ${host}, which has no address`, "correct the name")
  })
  return formatHostPort({ host: found.address, port: parsed === undefined || parsed.port === 0 ? port : parsed.port })
})

/** Whether the peer can come at all: not when this member's own address is seen as another one, behind a NAT. */
export const isReachable = (advertised: string, observed: string | undefined): boolean => {
  const own = Address.parse(advertised)
  const seen = observed === undefined ? undefined : Address.parse(observed)
  if (Result.isFailure(own) || seen === undefined || Result.isFailure(seen)) return true
  const [a, b] = [own.success.address, seen.success.address]
  if (a._tag !== b._tag || !Address.isGlobal(a) || !Address.isGlobal(b)) return true
  return Equal.equals(a, b)
}
