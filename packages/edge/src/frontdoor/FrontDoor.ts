/**
 * Receives connections at the front door (all kinds, told apart by their ClientHello) and at the mesh port (agents, clients and
 * peer edges). Reads the hello, however it is segmented, and passes the connection on untouched.
 */
import type { ClientHello } from "@catenet/wire/frames/ClientHello"
import { guarded } from "@catenet/wire/transport/FaultBoundary"
import { type HelloRefused, peekClientHello } from "@catenet/wire/transport/HelloPeek"
import { muxAlpn } from "@catenet/wire/transport/Mux"
import { Context, Effect, Layer, Result } from "effect"
import type { Socket } from "node:net"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { noteUse } from "../listen/ConnectionLimiter.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { HostCertificates } from "../tls/HostCertificates.ts"
import * as TlsAcceptor from "../tls/TlsAcceptor.ts"
import { ChannelListeners } from "./ChannelListeners.ts"
import { type Destination, dispatch, dispatchMesh, dispatchVisitor } from "./Dispatch.ts"
import { PlatformHosts } from "./PlatformHosts.ts"
import { SlotProtocol } from "./SlotProtocol.ts"
import { VisitorRouter } from "./VisitorRouter.ts"

export class FrontDoor extends Context.Service<
  FrontDoor,
  {
    /** Serves a connection of the front door. The socket is paused and nothing of it has been read. */
    readonly receive: (socket: Socket) => void
    /** Serves a connection of a listener for visitors of tunnels only. */
    readonly receiveVisitor: (socket: Socket) => void
    /** Serves a connection of the mesh port. */
    readonly receiveMesh: (socket: Socket) => void
  }
>()("edge/frontdoor/FrontDoor") {
  static readonly make = Effect.gen(function* () {
    const authority = yield* CertificateAuthority
    const counters = yield* Counters
    const muxAgents = yield* MuxAgents
    const slotProtocol = yield* SlotProtocol
    const members = yield* ChannelListeners
    const platform = yield* PlatformHosts
    const visitorRouter = yield* VisitorRouter
    const held = yield* HostCertificates
    const { ending } = yield* ConnectionFaults
    const run = yield* makeServe

    const onFailure = () => {
      counters.handshakesFailed += 1
    }
    const acceptor = {
      pairs: authority.leaf,
      onFailure,
      ending,
      minVersion: "TLSv1.3",
      longHandshakeTimeout: true
    } as const
    const mux = TlsAcceptor.make({ ...acceptor, alpn: [muxAlpn], onSecure: (socket) => run(socket, muxAgents.serve) })
    const bytes = TlsAcceptor.make({ ...acceptor, alpn: [], onSecure: (socket) => run(socket, slotProtocol.serve) })

    /** Returns an effect if something has to be waited for. */
    const serve = (socket: Socket, destination: Destination): Effect.Effect<void> | undefined => {
      // A visitor's connection counts as used from its first request on; the other kinds have their own limits.
      if (destination._tag !== "Tunnel") noteUse(socket)
      switch (destination._tag) {
        case "Mux":
          return void mux.accept(socket)
        case "Bytes":
          return void bytes.accept(socket)
        case "Channel":
          return void members.receive(socket)
        case "RelayGate":
          return void members.receiveGate(socket)
        case "PlatformHost":
          return void platform.serve(destination.host, socket)
        case "Tunnel":
          return visitorRouter.serve(destination, socket, "itself")
        case "Nowhere":
          return void socket.destroy()
      }
    }

    const open = new Set<Socket>()
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const socket of open) socket.destroy()
      })
    )

    /** A fiber is started only if there is something to wait for. */
    const receive = (decide: (hello: ClientHello) => Destination, answersSslRequest: boolean) => (socket: Socket) => {
      open.add(socket)
      socket.once("close", () => open.delete(socket))
      const decided = (peeked: Result.Result<ClientHello, HelloRefused>) => {
        if (Result.isFailure(peeked)) {
          counters.frontDoorAborts += 1
          return void socket.destroy()
        }
        if (held?.answer(peeked.success, socket) === true) return undefined
        const rest = serve(socket, decide(peeked.success))
        return rest === undefined ? undefined : run(socket, () => rest)
      }
      void peekClientHello(socket, { answersSslRequest }).then(guarded(ending(socket), decided))
    }

    return FrontDoor.of({
      receive: receive((hello) => dispatch(hello, platform.has, platform.defaultHost), true),
      receiveVisitor: receive(dispatchVisitor, true),
      receiveMesh: receive(dispatchMesh, false)
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([
      VisitorRouter.layer,
      MuxAgents.layer,
      SlotProtocol.layer,
      ChannelListeners.layer,
      PlatformHosts.layer,
      Counters.layer,
      ConnectionFaults.layer
    ])
  )
}
