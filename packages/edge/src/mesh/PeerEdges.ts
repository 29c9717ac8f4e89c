/**
 * Brings a visitor whose host is not known here to the edge that serves it (role `M`, data-plane 8.8): the control plane
 * says which one, the peer proves itself with the shared CA, the visitor's bytes go there untouched.
 */
import { type Address, parseAddress } from "@catenet/config/NetworkParser"
import { isGlobalEndpoint } from "@catenet/crypto/admission/Address"
import { pem } from "@catenet/crypto/x509/Certificate"
import { Hostname } from "@catenet/domain/values/Hostname"
import { decodeReply, encodeAdmission } from "@catenet/wire/frames/Role"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { Clock, Context, Effect, Layer, Redacted, Result } from "effect"
import { connect as connectTcp, type Socket } from "node:net"
import { connect, type TLSSocket } from "node:tls"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { ControlPlane } from "../control/ControlPlane.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Settings } from "../settings/Settings.ts"

const dialTimeout = "10 seconds"
const replyMillis = 10_000
/** How long an unknown host is not asked for again; scanners must not reach the control plane at their own rate. */
const missMillis = 30_000
const maxMisses = 10_000

const dial = (address: Address, ca: string, ending: (socket: Socket) => OnFault) =>
  Effect.callback<TLSSocket, Error>((resume) => {
    const raw = connectTcp({ ...address, allowHalfOpen: true, noDelay: true })
    const socket = connect({ socket: raw, servername: "localhost", ca, minVersion: "TLSv1.2" })
    for (const one of [raw, socket]) guard(one, ending(raw))
    raw.on("error", (error) => resume(Effect.fail(error)))
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.once("secureConnect", () => resume(Effect.succeed(socket)))
    return Effect.sync(() => raw.destroy())
  }).pipe(Effect.timeout(dialTimeout))

/** Asks the peer to take a visitor of the host; true when it does. */
const introduce = (socket: TLSSocket, adminToken: Redacted.Redacted, host: string) =>
  Effect.promise(async () => {
    const reader = new FrameReader(socket)
    socket.write(encodeAdmission({ role: "M", adminToken: Buffer.from(Redacted.value(adminToken), "hex"), host }))
    const reply = await reader.next(decodeReply, replyMillis)
    reader.release()
    return Result.isSuccess(reply) && reply.success
  })

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
      if (!(yield* introduce(socket, adminToken, host))) {
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
