/**
 * Moves a session from the relay to a direct connection (signed-bytes.md 13.2): the initiator offers a listener, the other member
 * dials it, and both prove their keys again. On any failure the session stays on the relay.
 */
import * as Address from "@catenet/crypto/admission/Address"
import type { Agreement } from "@catenet/crypto/admission/KeyExchange"
import type { KeyPair } from "@catenet/crypto/Suite"
import * as Candidate from "@catenet/crypto/upgrade/Candidate"
import { ControlMessage } from "@catenet/crypto/upgrade/ControlMessage"
import { isIP } from "@catenet/platform/IpAddress"
import { Effect, Fiber, Option, Queue, Result, type Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as Equal from "effect/Equal"
import * as NetAddress from "effect/net/NetAddress"
import type { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort, parseHostPort } from "../../settings/HostPort.ts"
import * as DirectPath from "./DirectPath.ts"
import type { TaggedStream } from "./TaggedStream.ts"

// Addresses at which a member can listen for its peer, and which of the peer's addresses it dials.

/**
 * `own` is the local address towards the edge, `observed` the address that the edge saw. An address is offered only if a peer can
 * reach the opened port: a global one without NAT, or one of the same network.
 */
export const of = (own: string | undefined, observed: string | undefined): Reachability => {
  const ip = own === undefined || isIP(own) === 0 ? undefined : NetAddress.ipFromStringUnsafe(own)
  return {
    listen: ip === undefined || own === undefined ? undefined : offered(own, ip, observed),
    choose: (endpoint) => {
      const address = Candidate.choose(endpoint, ip)
      const parsed = address === undefined ? undefined : parseHostPort(address)
      return parsed !== undefined && parsed.port > 0 ? parsed : undefined
    }
  }
}

const offered = (host: string, ip: NetAddress.IpAddress, observed: string | undefined) => {
  const seen = observed === undefined ? undefined : Result.getOrUndefined(Address.parse(observed))
  const at = (port: number) => formatHostPort({ host, port })
  if (seen !== undefined && Address.isGlobal(ip) && Equal.equals(seen.address, ip))
    return { host, offer: (port: number) => Candidate.join({ reflexive: at(port), local: undefined }) }
  if (Address.sameLocalSubnet(ip, ip))
    return { host, offer: (port: number) => Candidate.join({ reflexive: "", local: at(port) }) }
  return undefined
}

const stepLimit = "5 seconds"
const keepAliveEvery = "60 seconds"

/** Where this member can listen, and which of a peer's offers it dials. */
export interface Reachability {
  /** Where to listen, and the text of the offer; undefined if no peer could connect. */
  readonly listen: { readonly host: string; readonly offer: (port: number) => string } | undefined
  readonly choose: (endpoint: string) => HostPort | undefined
}

export interface Mover {
  readonly stream: TaggedStream
  readonly noise: KeyPair
  readonly peerKey: Uint8Array
  /** Whether this member began the session on the relay. */
  readonly isInitiator: boolean
  /** The key exchange of the session, which the direct connection uses, too. */
  readonly agreement?: Agreement
  readonly reachability: Reachability
}

const { Abort, Offer, Ready } = ControlMessage

const controls = Effect.fnUntraced(function* (stream: TaggedStream) {
  const queue = yield* Queue.unbounded<ControlMessage>()
  yield* Effect.acquireRelease(
    Effect.sync(() => stream.onControl((message) => Queue.offerUnsafe(queue, message))),
    () => Effect.sync(() => stream.onControl(undefined))
  )
  return queue
})

const offering = Effect.fnUntraced(function* ({ agreement, noise, peerKey, reachability, stream }: Mover) {
  if (reachability.listen === undefined) return Option.none<DirectPath.Direct>()
  const { host, offer } = reachability.listen
  const listener = yield* DirectPath.listen({ host, port: 0 })
  const inbox = yield* controls(stream)
  const coming = yield* Effect.forkScoped(DirectPath.awaitPeer(listener, noise, peerKey, agreement))
  stream.control(Offer({ endpoint: offer(listener.address.port) }))
  const reply = yield* Effect.timeout(Queue.take(inbox), stepLimit)
  if (reply._tag !== "Ready") return Option.none<DirectPath.Direct>()
  const direct = yield* Effect.timeout(Fiber.join(coming), stepLimit)
  stream.attach(direct.stream)
  // The initiator's first message proves that it has moved too.
  const isThere = yield* Effect.timeout(direct.stream.begun, stepLimit)
  return isThere ? Option.some(direct) : Option.none<DirectPath.Direct>()
})

const answering = Effect.fnUntraced(function* ({ agreement, noise, peerKey, reachability, stream }: Mover) {
  const inbox = yield* controls(stream)
  const offer = yield* Queue.take(inbox)
  if (offer._tag !== "Offer") return Option.none<DirectPath.Direct>()
  const address = reachability.choose(offer.endpoint)
  if (address === undefined) {
    stream.control(Abort())
    return Option.none<DirectPath.Direct>()
  }
  stream.control(Ready())
  const direct = yield* Effect.timeout(DirectPath.dial(address, noise, peerKey, undefined, agreement), stepLimit)
  stream.attach(direct.stream)
  direct.stream.begin()
  return Option.some(direct)
})

/** One attempt. Returns the direct connection once this side's direction has moved to it. */
export const attempt = Effect.fn("DirectUpgrade.attempt")(function* (
  mover: Mover
): Effect.fn.Return<Option.Option<DirectPath.Direct>, never, AgentMetrics | SecureRandom.SecureRandom> {
  const moving: Effect.Effect<
    Option.Option<DirectPath.Direct>,
    { readonly message: string },
    AgentMetrics | SecureRandom.SecureRandom | Scope.Scope
  > = mover.isInitiator ? offering(mover) : answering(mover)
  const direct = yield* Effect.scoped(moving).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logDebug(`the session stays on the relay: ${error.message}`), Option.none())
    )
  )
  if (Option.isSome(direct)) mover.stream.cutOver()
  return direct
})

/** Keeps a moved session's relay alive, because relays end silent connections. */
export const keepRelay = (stream: TaggedStream): Effect.Effect<never> =>
  Effect.forever(
    Effect.delay(
      Effect.sync(() => stream.keepAlive()),
      keepAliveEvery
    )
  )
