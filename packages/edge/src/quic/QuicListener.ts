/**
 * The UDP ports of the mesh and of the two channel phases, if the QUIC runtime is installed. They open in parallel to the TCP
 * listeners, with the same port numbers, and do not delay them; without QUIC, agents, clients and members use TLS.
 */
import type { Address } from "@catenet/platform/NetworkParser"
import * as QuicProcess from "@catenet/wire/quic/process/QuicProcess"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import { Effect } from "effect"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { MemberAdmissions } from "../channels/MemberAdmissions.ts"
import { type Admitted, type ConnectionLimiter, noteUse } from "../listen/ConnectionLimiter.ts"
import { type QuicPort, QuicPorts } from "../listen/QuicPorts.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import * as QuicCertificateReload from "./QuicCertificateReload.ts"
import { QuicMembers } from "./QuicMembers.ts"
import { QuicPeers } from "./QuicPeers.ts"

/** Data-plane 1.4: milliseconds, and concurrent streams of a peer. */
const ofPeers = { keepAlive: 3_000, idle: 10_000, streams: 100 }
/** A member opens one stream for its join and one for its session; closed streams count for a while longer. */
const ofMembers = { ...ofPeers, streams: 4 }

/** A TCP listener whose port number is also used on UDP. */
interface Numbered {
  readonly name: string
  readonly address: Address
}

/** Takes a place for a connection until it ends. */
const placeOf = (remoteAddress: string) => {
  const left = new Set<() => void>()
  let close: (() => void) | "evicted" | undefined
  const place: Admitted = {
    remoteAddress,
    once: (_, leave) => left.add(leave),
    destroy: () => {
      if (typeof close === "function") close()
      close = "evicted"
    }
  }
  return {
    place,
    leave: () => left.forEach((leave) => leave()),
    /** `end` closes the connection; at once if its place went to another address during the handshake. */
    connected: (end: () => void) => {
      if (close === "evicted") end()
      else close = end
    }
  }
}

/** The handlers of the ports by name. */
const services = Effect.gen(function* () {
  const admissions = yield* MemberAdmissions
  const members = yield* QuicMembers
  const peers = yield* QuicPeers
  yield* Effect.addFinalizer(() => Effect.sync(members.closeAll))
  yield* Effect.addFinalizer(() => Effect.sync(peers.closeAll))
  const ofPhase = (phase: "rendezvous" | "relay") => ({
    transport: ofMembers,
    takes: admissions.takes,
    serve: (connection: QuicConnection) => members.serve(connection, phase)
  })
  return [
    { port: "mesh", transport: ofPeers, takes: () => true, serve: peers.serve },
    { port: "channel-broker", ...ofPhase("rendezvous") },
    { port: "channel-relay", ...ofPhase("relay") }
  ] satisfies ReadonlyArray<{ readonly port: QuicPort; readonly [part: string]: unknown }>
})

const listen = Effect.fn("QuicListener.listen")(function* (
  program: QuicProgram.QuicProgram,
  listeners: ReadonlyArray<Numbered>,
  limiter: ConnectionLimiter
) {
  const { leaf } = yield* CertificateAuthority
  const counters = yield* Counters
  const quic = yield* QuicProcess.start(program, { listen: listeners.map(({ address }) => address.host) })
  const ports = yield* QuicPorts
  const serving = yield* services
  for (const { address, name } of listeners) {
    const service = serving.find(({ port }) => port === name)
    if (service === undefined) continue
    const incoming = (remote: { readonly address: string }) => {
      if (!service.takes(remote.address)) return undefined
      const { connected, leave, place } = placeOf(remote.address)
      if (!limiter.admit(place, `${name}-quic`)) return undefined
      return {
        connected: (connection: QuicConnection) => {
          void connection.closed.then(leave)
          noteUse(place)
          connected(() => connection.close())
          service.serve(connection)
        },
        failed: () => {
          counters.handshakesFailed += 1
          leave()
        }
      }
    }
    const pair = leaf.current
    const at = { address: address.host, port: address.port }
    const where = { listener: name, udp: `${address.host}:${address.port}` }
    yield* quic.listen({ at, ...QuicCertificateReload.current(pair), transport: service.transport }, incoming).pipe(
      Effect.tap(() => Effect.logInfo("QUIC is listened for")),
      Effect.tap(() => ports.bound(service.port)),
      Effect.flatMap((bound) => QuicCertificateReload.follow(leaf, bound, pair)),
      Effect.catch(({ why }) => Effect.logWarning(`QUIC is not listened for: ${why}`)),
      Effect.annotateLogs(where)
    )
  }
})

/** Starts QUIC at the ports of the listeners; a failure is only logged unless QUIC was required. */
export const open = Effect.fn("QuicListener.open")(function* (
  listeners: ReadonlyArray<Numbered>,
  limiter: ConnectionLimiter
) {
  const { quic } = yield* Settings
  if (quic === "off") return
  const program = QuicProgram.find()
  if (program === undefined) {
    if (quic === "on")
      yield* Effect.logWarning(
        "CT_EDGE_QUIC is on, and the runtime of the QUIC process is not installed; agents and clients use TLS"
      )
    return
  }
  yield* Effect.forkScoped(
    listen(program, listeners, limiter).pipe(
      Effect.andThen(Effect.never),
      Effect.catch((error) => Effect.logWarning(`QUIC is not listened for: ${error.message}`)),
      Effect.scoped
    )
  )
})
