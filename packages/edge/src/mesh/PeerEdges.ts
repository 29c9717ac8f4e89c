/**
 * Forwards a visitor to the edge that serves its host or public port (role `M`, data-plane 8.8), if no agent is connected here: the
 * control plane names the edge, the shared CA authenticates it, and the bytes are forwarded untouched.
 */
import { isGlobalEndpoint } from "@catenet/crypto/admission/Address"
import { pem } from "@catenet/crypto/x509/Certificate"
import { type PortName, portName } from "@catenet/domain/edges/PublicPort"
import { Hostname } from "@catenet/domain/values/Hostname"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { type Address, formatAddress, parseAddress } from "@catenet/platform/NetworkParser"
import { encodePeerPort, type PeerPort } from "@catenet/wire/frames/PeerPort"
import { Clock, Context, Effect, Layer, Redacted, Result } from "effect"
import type { Duplex } from "node:stream"
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
/** How long an answer about a port is used. The control plane asks all edges for it, and agents come and go. */
const portMillis = { found: 5_000, missed: 1_000 }
const maxMisses = 10_000
/** How long a visitor waits for the control plane where an earlier answer can be used instead. */
const lookupPatience = "1 second"

type Where = { readonly host: Hostname; readonly port?: never } | { readonly host?: never; readonly port: PortName }

/** Where the control plane says a host or a port is served, in the order in which to try; without this edge. */
const makeLocate = Effect.gen(function* () {
  const { edgeId, meshRelayPrivate } = yield* Settings
  const { client } = yield* ControlPlane
  const clock = yield* Clock.Clock
  /** Until when the last answer is used, epoch milliseconds. */
  const answered = new BoundedMap<string, number>(maxMisses)
  /** The last answer for each host or port, also used while the control plane does not answer. */
  const found = new BoundedMap<string, ReadonlyArray<Address>>(maxMisses)

  const isFresh = (name: string) => clock.currentTimeMillisUnsafe() < (answered.get(name) ?? 0)
  const remember = (name: string, millis: number) => {
    answered.set(name, clock.currentTimeMillisUnsafe() + millis)
  }

  return Effect.fnUntraced(function* (query: Where) {
    const name = query.host ?? query.port ?? ""
    if (client === undefined || isFresh(name)) return found.get(name) ?? []
    const asked = client.lookup({ query })
    const node = yield* Effect.result(found.has(name) ? Effect.timeout(asked, lookupPatience) : asked)
    const missed = query.port === undefined ? missMillis : portMillis.missed
    if (Result.isFailure(node)) {
      const isUnknown = statusOf(node.failure) === 404
      if (isUnknown) found.delete(name)
      remember(name, isUnknown ? missed : unansweredMillis)
      return found.get(name) ?? []
    }
    const { others = [], ...first } = node.success
    const addresses = [first, ...others].flatMap(({ edge_id, peer_addr }) => {
      const address = parseAddress(peer_addr)
      const isPeer = edge_id !== edgeId && (meshRelayPrivate || isGlobalEndpoint(peer_addr))
      return isPeer && address !== undefined ? [address] : []
    })
    if (addresses.length > 0) {
      found.set(name, addresses)
      if (query.port !== undefined) remember(name, portMillis.found)
      return addresses
    }
    found.delete(name)
    remember(name, missed)
    return addresses
  })
})

export class PeerEdges extends Context.Service<
  PeerEdges,
  {
    /** False if no other edge takes the visitor, which is then untouched. */
    readonly forward: (host: string, visitor: Duplex) => Effect.Effect<boolean>
    /** The same for a visitor of a public port. Calls back when the other edge has taken it. */
    readonly forwardPort: (visit: PeerPort, visitor: Duplex, taken: () => void) => Effect.Effect<boolean>
    /** Whether visitors are forwarded at all. */
    readonly isOn: boolean
  }
>()("edge/mesh/PeerEdges") {
  static readonly make = Effect.gen(function* () {
    const { adminToken, meshRelay } = yield* Settings
    const { client } = yield* ControlPlane
    const { root } = yield* CertificateAuthority
    const counters = yield* Counters
    const { ending } = yield* ConnectionFaults
    const relays = yield* Relays
    const failed = yield* makeFailures
    const locate = yield* makeLocate
    const isOn = meshRelay && adminToken !== undefined && client !== undefined
    const ca = pem(root)

    /** `host` is what the other edge gets to see: a host name or a visit at a port. */
    const pass = Effect.fnUntraced(function* (
      address: Address,
      host: string,
      visitor: Duplex,
      taken: () => void = () => undefined
    ) {
      if (adminToken === undefined) return false
      const peer = formatAddress(address)
      const dialled = yield* Effect.result(dial(address, ca, ending))
      if (Result.isFailure(dialled)) {
        yield* failed(peer, dialled.failure)
        return false
      }
      const socket = dialled.success
      if (
        !(yield* introduce(socket, { role: "M", adminToken: Buffer.from(Redacted.value(adminToken), "hex"), host }))
      ) {
        socket.destroy()
        yield* failed(peer, new PeerRefused())
        return false
      }
      counters.visitorsToPeers += 1
      taken()
      yield* relays.pass(visitor, socket)
      return true
    })

    /** True once an edge has taken the visitor. */
    const passToFirst = Effect.fnUntraced(function* (where: Where, host: string, visitor: Duplex, taken?: () => void) {
      if (!isOn) return false
      for (const address of yield* locate(where)) if (yield* pass(address, host, visitor, taken)) return true
      return false
    })

    const forward = Effect.fn("PeerEdges.forward")((host: string, visitor: Duplex) =>
      passToFirst({ host: Hostname.make(host) }, host, visitor)
    )

    const forwardPort = Effect.fn("PeerEdges.forwardPort")((visit: PeerPort, visitor: Duplex, taken: () => void) =>
      passToFirst({ port: portName(visit) }, encodePeerPort(visit), visitor, taken)
    )

    return PeerEdges.of({ forward, forwardPort, isOn })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([Counters.layer, ConnectionFaults.layer, Relays.layer])
  )
}
