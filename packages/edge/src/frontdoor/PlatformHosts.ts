/**
 * The hosts of the platform itself (portal, identity provider, ...): terminates TLS and copies to their upstream (data-plane 1.2
 * row 5), optionally with a PROXY protocol header that names the visitor's address. The certificate is in a file, or comes from the
 * control plane; without either, the bytes are passed through untouched. WebSockets of channel members at the portal's name are served here.
 */
import type { Address } from "@catenet/platform/NetworkParser"
import { encodeProxyHeader } from "@catenet/platform/ProxyProtocol"
import { Sockets } from "@catenet/platform/Sockets"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { splice } from "@catenet/wire/transport/Splice"
import { Context, Effect, Layer, Option } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as WebSocketMembers from "../channels/WebSocketMembers.ts"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Settings, type TerminateHost } from "../settings/Settings.ts"
import { CertificateFiles } from "../tls/CertificateFiles.ts"
import { HostCertificates } from "../tls/HostCertificates.ts"
import * as TlsAcceptor from "../tls/TlsAcceptor.ts"

/** Whether a connection begins with a text. Nothing is consumed; false if nothing arrives in time. */
const silence = "5 seconds"

/** The stream is paused before and after. */
const beginsWith = (stream: Duplex, text: string): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    let seen: Buffer = Buffer.alloc(0)
    const detach = () => {
      stream.off("data", look).off("close", over)
      stream.pause()
      if (seen.length > 0 && !stream.destroyed) stream.unshift(seen)
    }
    const settle = (found: boolean) => {
      detach()
      resume(Effect.succeed(found))
    }
    const over = () => settle(false)
    const look = (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk])
      const prefix = seen.subarray(0, text.length).toString("latin1")
      if (!text.startsWith(prefix)) settle(false)
      else if (prefix.length === text.length) settle(true)
    }
    stream.on("data", look).on("close", over)
    stream.resume()
    return Effect.sync(detach)
  }).pipe(Effect.timeoutOrElse({ duration: silence, orElse: () => Effect.succeed(false) }))

const connectMillis = 5_000

const headerOf = (visitor: Socket) => {
  const { client, server } = endpointsOf(visitor)
  return encodeProxyHeader({
    ...(client === undefined ? {} : { source: client }),
    ...(server === undefined ? {} : { destination: server })
  })
}

/** Dials the upstream and copies between it and the visitor. */
const relayTo =
  (upstream: Address, proxyProtocol: boolean, idleMillis: number | undefined, faults: ConnectionFaults["Service"]) =>
  (visitor: Socket) => {
    const socket = Sockets.dialTcp({ ...upstream, allowHalfOpen: true, noDelay: true })
    guard(socket, faults.ending(socket))
    socket.setTimeout(connectMillis, () => socket.destroy())
    socket.once("connect", () => socket.setTimeout(0))
    socket.on("error", () => undefined)
    if (proxyProtocol) socket.write(headerOf(visitor))
    void splice(visitor, socket, { onFault: faults.report, ...(idleMillis === undefined ? {} : { idleMillis }) })
  }

/** Serves channel members here, and relays everyone else. */
const keepMembers = Effect.fnUntraced(function* (relay: (visitor: Socket) => void) {
  const members = yield* WebSocketMembers.WebSocketMembers
  const run = yield* makeServe
  if (!members.isServed) return relay
  return (socket: Socket) =>
    run(socket, (socket) =>
      Effect.map(beginsWith(socket, `GET ${WebSocketMembers.path}`), (isMember) =>
        isMember ? members.receive(socket, "member") : relay(socket)
      )
    )
})

const makeHost = Effect.fnUntraced(function* (
  { host, upstream, pair, proxyProtocol }: TerminateHost,
  isPortal: boolean
) {
  const { relayIdleSeconds } = yield* Settings
  const files = yield* CertificateFiles
  const held = yield* HostCertificates
  const faults = yield* ConnectionFaults
  const relay = relayTo(upstream, proxyProtocol, relayIdleSeconds === 0 ? undefined : relayIdleSeconds * 1_000, faults)
  const source = pair === undefined ? Option.none() : yield* files.follow(pair)
  if (Option.isNone(source) && held === undefined) return relay
  const acceptor = TlsAcceptor.make({
    pairs: Option.getOrUndefined(source),
    contextOf: held === undefined || Option.isSome(source) ? undefined : () => held.contextOf(host),
    alpn: [],
    onSecure: isPortal ? yield* keepMembers(relay) : relay,
    onFailure: () => undefined,
    ending: faults.ending
  })
  return acceptor.accept
})

export class PlatformHosts extends Context.Service<
  PlatformHosts,
  {
    readonly has: (host: string) => boolean
    readonly serve: (host: string, socket: Socket) => void
    readonly defaultHost: string | undefined
  }
>()("edge/frontdoor/PlatformHosts") {
  static readonly make = Effect.gen(function* () {
    const { identityProvider, otherHosts, portal } = yield* Settings
    const serving = new Map<string, (socket: Socket) => void>()
    for (const host of [portal, identityProvider, ...otherHosts])
      if (host !== undefined) serving.set(host.host, yield* makeHost(host, host === portal))
    return PlatformHosts.of({
      has: (host) => serving.has(host),
      serve: (host, socket) => serving.get(host)?.(socket),
      defaultHost: portal?.host
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([ConnectionFaults.layer, WebSocketMembers.WebSocketMembers.layer])
  )
}
