/**
 * Forwards a visitor whose host is unknown here to the edge that serves it (role `M`, data-plane 8.8): the control plane names the
 * edge, the shared CA authenticates it, and the bytes are forwarded untouched.
 */
import { isGlobalEndpoint } from "@catenet/crypto/admission/Address"
import { pem } from "@catenet/crypto/x509/Certificate"
import { Hostname } from "@catenet/domain/values/Hostname"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { type Address, formatAddress, parseAddress } from "@catenet/platform/NetworkParser"
import { Clock, Context, Effect, Layer, Redacted, Result } from "effect"
import type { Socket } from "node:net"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { ControlPlane, statusOf } from "../control/ControlPlane.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Settings } from "../settings/Settings.ts"
import { dial, introduce, makeFailures, PeerRefused } from "./PeerDial.ts"

/** How long an unknown host is cached, so that scanners do not reach the control plane at their own rate. */
const missMillis = 30_000
/** The same if the control plane did not answer: it may know the host when it is back. */
const unansweredMillis = 1_000
const maxMisses = 10_000
/** How long a visitor waits for the control plane where an earlier answer can be used instead. */
const lookupPatience = "1 second"

export class PeerEdges extends Context.Service<
  PeerEdges,
  {
    /** False if no other edge takes the visitor; the socket is then untouched. */
    readonly forward: (host: string, socket: Socket) => Effect.Effect<boolean>
  }
>()("edge/mesh/PeerEdges") {
  static readonly make = Effect.gen(function* () {
    const { adminToken, edgeId, meshRelay, meshRelayPrivate } = yield* Settings
    const { client } = yield* ControlPlane
    const { root } = yield* CertificateAuthority
    const counters = yield* Counters
    const { ending } = yield* ConnectionFaults
    const relays = yield* Relays
    const failed = yield* makeFailures
    const clock = yield* Clock.Clock
    /** End of the cached answer, epoch milliseconds. */
    const misses = new BoundedMap<string, number>(maxMisses)
    /** The last answer for each host, used while the control plane does not answer. */
    const found = new BoundedMap<string, Address>(maxMisses)
    const ca = pem(root)

    const missed = (host: string) => clock.currentTimeMillisUnsafe() < (misses.get(host) ?? 0)
    const remember = (host: string, millis: number) => {
      misses.set(host, clock.currentTimeMillisUnsafe() + millis)
    }

    const locate = Effect.fnUntraced(function* (host: string) {
      if (client === undefined || missed(host)) return found.get(host)
      const asked = client.lookup({ query: { host: Hostname.make(host) } })
      const node = yield* Effect.result(found.has(host) ? Effect.timeout(asked, lookupPatience) : asked)
      if (Result.isFailure(node)) {
        const isUnknown = statusOf(node.failure) === 404
        if (isUnknown) found.delete(host)
        remember(host, isUnknown ? missMillis : unansweredMillis)
        return found.get(host)
      }
      const { edge_id, peer_addr } = node.success
      const address = parseAddress(peer_addr)
      if (address !== undefined && edge_id !== edgeId && (meshRelayPrivate || isGlobalEndpoint(peer_addr))) {
        found.set(host, address)
        return address
      }
      found.delete(host)
      remember(host, missMillis)
      return undefined
    })

    const forward = Effect.fn("PeerEdges.forward")(function* (host: string, visitor: Socket) {
      if (!meshRelay || adminToken === undefined) return false
      const address = yield* locate(host)
      if (address === undefined) return false
      const name = formatAddress(address)
      const peer = yield* Effect.result(dial(address, ca, ending))
      if (Result.isFailure(peer)) {
        yield* failed(name, peer.failure)
        return false
      }
      const socket = peer.success
      if (
        !(yield* introduce(socket, { role: "M", adminToken: Buffer.from(Redacted.value(adminToken), "hex"), host }))
      ) {
        socket.destroy()
        yield* failed(name, new PeerRefused())
        return false
      }
      counters.visitorsToPeers += 1
      yield* relays.pass(visitor, socket)
      return true
    })

    return PeerEdges.of({ forward })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([Counters.layer, ConnectionFaults.layer, Relays.layer])
  )
}
