/**
 * Visitors of tunnels of kind tcp who connect by TLS to a host name: TLS ends here with the certificate of the name, and the agent
 * gets what is inside, as it gets a connection to a public port.
 */
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Context, Effect, Layer, Option } from "effect"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"
import { CertificateFiles } from "../tls/CertificateFiles.ts"
import { HostCertificates } from "../tls/HostCertificates.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import * as TlsAcceptor from "../tls/TlsAcceptor.ts"
import { PortVisits } from "./PortVisits.ts"

export class TlsVisits extends Context.Service<
  TlsVisits,
  {
    /** Only for a host that the edge has a certificate of. */
    readonly accept: TlsAcceptor.TlsAcceptor["accept"]
  }
>()("edge/ports/TlsVisits") {
  static readonly make = Effect.gen(function* () {
    const { wildcard } = yield* Settings
    const counters = yield* Counters
    const files = yield* CertificateFiles
    const held = yield* HostCertificates
    const places = yield* VisitorPlaces
    const routes = yield* Routes
    const tickets = yield* SessionTickets
    const visits = yield* PortVisits
    const { ending } = yield* ConnectionFaults

    const onSecure = (socket: TLSSocket, host: string, accepted: Socket) => {
      const token = routes.find(host)?.token
      const before = accepted.bytesRead
      const holder = { isIdle: () => accepted.bytesRead === before, evict: () => void accepted.destroy() }
      if (token === undefined || !places.enter(accepted, token, holder)) return void socket.destroy()
      return visits.passHere(token, socket, () => {
        counters.visitorsOfOfflineTunnels += 1
        socket.end()
        closeGracefully(socket)
      })
    }

    return TlsAcceptor.make({
      pairs: wildcard === undefined ? undefined : Option.getOrUndefined(yield* files.follow(wildcard)),
      contextOf: held?.contextOf,
      tickets,
      alpn: "first",
      onSecure,
      onFailure: () => void (counters.handshakesFailed += 1),
      ending
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([ConnectionFaults.layer, Counters.layer, PortVisits.layer, Routes.layer, VisitorPlaces.layer])
  )
}
