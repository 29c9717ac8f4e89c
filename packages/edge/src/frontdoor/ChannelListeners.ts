/**
 * Entry points for members of channels: the front door (by ALPN, for the broker or the relay node), the ports of the two phases,
 * and WebSockets. TLS is terminated here; an address with too many guesses gets no handshake.
 */
import type { Phase } from "@catenet/crypto/admission/Join"
import { Context, Effect, Layer, Option } from "effect"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { ChannelBroker } from "../channels/ChannelBroker.ts"
import { MemberAdmissions } from "../channels/MemberAdmissions.ts"
import * as MemberConnection from "../channels/MemberConnection.ts"
import { RelayNodeGate } from "../channels/RelayNodeGate.ts"
import { WebSocketMembers } from "../channels/WebSocketMembers.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import { CertificateFiles } from "../tls/CertificateFiles.ts"
import type { CertificateSource } from "../tls/CertificateSource.ts"
import * as TlsAcceptor from "../tls/TlsAcceptor.ts"

type Receive = (socket: Socket) => void

export class ChannelListeners extends Context.Service<
  ChannelListeners,
  {
    /** A connection of the front door whose ClientHello names a protocol of channels. */
    readonly receive: Receive
    /** A connection of the front door that asks for the relay node. */
    readonly receiveGate: Receive
    readonly receiveBroker: Receive
    readonly receiveRelay: Receive
    readonly receiveWebSocket: Receive
  }
>()("edge/frontdoor/ChannelListeners") {
  static readonly make = Effect.gen(function* () {
    const authority = yield* CertificateAuthority
    const { webSocketPair } = yield* Settings
    const admissions = yield* MemberAdmissions
    const broker = yield* ChannelBroker
    const gate = yield* RelayNodeGate
    const webSockets = yield* WebSocketMembers
    const counters = yield* Counters
    const files = yield* CertificateFiles
    const { ending } = yield* ConnectionFaults
    const run = yield* makeServe

    const door = (
      pairs: CertificateSource,
      alpn: ReadonlyArray<string>,
      onSecure: (socket: TLSSocket) => void
    ): Receive => {
      const onFailure = () => {
        counters.handshakesFailed += 1
      }
      const acceptor = TlsAcceptor.make({
        pairs,
        alpn,
        onSecure,
        onFailure,
        ending,
        longHandshakeTimeout: true,
        isResettable: true
      })
      return (socket) => (admissions.takes(socket.remoteAddress) ? acceptor.accept(socket) : void socket.destroy())
    }
    const members = (carrier: (socket: TLSSocket) => MemberConnection.MemberConnection) =>
      door(authority.leaf, MemberConnection.channelAlpn, (socket) =>
        run(socket, (socket) => broker.serve(socket, carrier(socket)))
      )
    const atGate = door(authority.leaf, [MemberConnection.gateAlpn], (socket) =>
      run(socket, (socket) => gate.serve(socket, MemberConnection.atGate(socket)))
    )
    const atPort = (phase: Phase) => members((socket) => MemberConnection.atPort(socket, phase))

    const receiveWebSocket = Effect.gen(function* (): Effect.fn.Return<Receive> {
      if (webSocketPair === undefined) return (socket) => webSockets.receive(socket, "proxy")
      const pairs = yield* files.follow(webSocketPair)
      // Without a usable certificate, nothing is exchanged unencrypted.
      if (Option.isNone(pairs)) return (socket) => void socket.destroy()
      return door(pairs.value, ["http/1.1"], (socket) => webSockets.receive(socket, "member"))
    })

    return ChannelListeners.of({
      receive: members(MemberConnection.atFrontDoor),
      receiveGate: gate.isServed ? atGate : (socket) => void socket.destroy(),
      receiveBroker: atPort("rendezvous"),
      receiveRelay: atPort("relay"),
      receiveWebSocket: yield* receiveWebSocket
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([
      MemberAdmissions.layer,
      ChannelBroker.layer,
      RelayNodeGate.layer,
      WebSocketMembers.layer,
      Counters.layer,
      ConnectionFaults.layer
    ])
  )
}
