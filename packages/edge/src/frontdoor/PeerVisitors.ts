/**
 * Visitors from a peer edge (role `M`): the peer shows the admin token and names the host, gets `OK` when the host
 * is served here, and sends the visitor's bytes from the ClientHello on.
 */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import * as Hex from "@catenet/crypto/Hex"
import { normalHost } from "@catenet/wire/frames/HostName"
import type { PeerEdge } from "@catenet/wire/frames/Role"
import { answerAdmission } from "@catenet/wire/transport/EdgeSlot"
import { peekClientHello } from "@catenet/wire/transport/HelloPeek"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import type { TLSSocket } from "node:tls"
import { Counters } from "../observe/Counters.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"
import { dispatchVisitor } from "./Dispatch.ts"
import { VisitorRouter } from "./VisitorRouter.ts"

export class PeerVisitors extends Context.Service<
  PeerVisitors,
  {
    readonly serve: (socket: TLSSocket, peer: PeerEdge) => Effect.Effect<void>
  }
>()("edge/frontdoor/PeerVisitors") {
  static readonly make = Effect.gen(function* () {
    const { adminToken, meshRelay } = yield* Settings
    const routes = yield* Routes
    const visitorRouter = yield* VisitorRouter
    const counters = yield* Counters
    const expected = adminToken && Redacted.make(new Uint8Array(Buffer.from(Redacted.value(adminToken), "hex")))

    const admits = (peer: PeerEdge, host: string | undefined) =>
      meshRelay &&
      expected !== undefined &&
      AdminHeader.matches(expected, Hex.encode(peer.adminToken)) &&
      host !== undefined &&
      routes.find(host) !== undefined

    const serve = Effect.fn("PeerVisitors.serve")(function* (socket: TLSSocket, peer: PeerEdge) {
      const host = normalHost(peer.host)
      const admitted = admits(peer, host)
      answerAdmission(socket, admitted)
      if (!admitted) return closeGracefully(socket)
      const hello = yield* Effect.promise(() => peekClientHello(socket))
      if (Result.isFailure(hello)) return void socket.destroy()
      const destination = dispatchVisitor(hello.success)
      if (destination._tag !== "Tunnel" || destination.host !== host) return void socket.destroy()
      counters.visitorsFromPeers += 1
      yield* visitorRouter.serve(destination, socket, "peer") ?? Effect.void
    })

    return PeerVisitors.of({ serve })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Routes.layer, VisitorRouter.layer, Counters.layer]))
}
