/**
 * Brings a visitor whose host is not known here to the edge that serves it (role `M`, data-plane 8.8): the control plane
 * says which one, the peer proves itself with the shared CA, the visitor's bytes go there untouched.
 */
import { parseAddress } from "@catenet/config/NetworkParser"
import { isGlobalEndpoint } from "@catenet/crypto/admission/Address"
import { pem } from "@catenet/crypto/x509/Certificate"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import type { Socket } from "node:net"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { ControlPlane } from "../control/ControlPlane.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Settings } from "../settings/Settings.ts"
import { dial, introduce } from "./PeerDial.ts"

/** How long an unknown host is not asked for again; scanners must not reach the control plane at their own rate. */
const missMillis = 30_000
const maxMisses = 10_000

export class PeerEdges extends Context.Service<
  PeerEdges,
  {
    /** False when no other edge takes the visitor; the socket is then as it was. */
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
    const clock = yield* Clock.Clock
    const misses = new Map<string, number>()
    const ca = pem(root)

    const missed = (host: string) =>
      clock.currentTimeMillisUnsafe() - (misses.get(host) ?? Number.NEGATIVE_INFINITY) < missMillis
    const remember = (host: string) => {
      misses.delete(host)
      misses.set(host, clock.currentTimeMillisUnsafe())
      for (const oldest of misses.keys()) if (misses.size > maxMisses) misses.delete(oldest)
    }

    const locate = Effect.fnUntraced(function* (host: string) {
      if (client === undefined || missed(host)) return undefined
      const node = yield* Effect.option(client.lookup({ query: { host: Hostname.make(host) } }))
      const reachable = (address: string) => meshRelayPrivate || isGlobalEndpoint(address)
      if (node._tag === "Some" && node.value.edge_id !== edgeId && reachable(node.value.peer_addr)) {
        return parseAddress(node.value.peer_addr)
      }
      remember(host)
      return undefined
    })

    const forward = Effect.fn("PeerEdges.forward")(function* (host: string, visitor: Socket) {
      if (!meshRelay || adminToken === undefined) return false
      const address = yield* locate(host)
      if (address === undefined) return false
      const peer = yield* Effect.option(dial(address, ca, ending))
      if (peer._tag === "None") return false
      const socket = peer.value
      if (
        !(yield* introduce(socket, { role: "M", adminToken: Buffer.from(Redacted.value(adminToken), "hex"), host }))
      ) {
        socket.destroy()
        return false
      }
      counters.visitorsToPeers += 1
      yield* relays.pass(visitor, socket)
      return true
    })

    return PeerEdges.of({ forward })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Counters.layer, ConnectionFaults.layer, Relays.layer]))
}
