/** Routes a connection by its ClientHello alone (data-plane 1.2, first match wins). Pure. */
import type { ClientHello } from "@catenet/wire/frames/ClientHello"
import { muxAlpn } from "@catenet/wire/transport/Mux"
import { disguisedHost, gateAlpn } from "../channels/MemberConnection.ts"

/** The byte protocol of agents, clients and peer edges. */
const bytesAlpn = "ct-edge"
/** A certificate authority validates a host by TLS-ALPN-01 (RFC 8737). */
const acmeAlpn = "acme-tls/1"

export type Destination =
  | { readonly _tag: "Mux" }
  | { readonly _tag: "Bytes" }
  /** A member of a channel joins. */
  | { readonly _tag: "Channel" }
  /** A member asks for the relay node. */
  | { readonly _tag: "RelayGate" }
  | { readonly _tag: "PlatformHost"; readonly host: string }
  | {
      readonly _tag: "Tunnel"
      readonly host: string
      readonly speaks: "acme" | "http" | "unknown"
      /** The visitor may send early data, which must not be processed twice. */
      readonly earlyData: boolean
      /** Name of the key with which the visitor's session ticket was encrypted, if there is one. */
      readonly ticket?: string
    }
  | { readonly _tag: "Nowhere" }

const tunnel = (hello: ClientHello, host: string): Destination => {
  const offers = (protocol: string) => hello.alpn.includes(protocol)
  const http = offers("http/1.1") || offers("h2")
  // A validation offers no other protocol (RFC 8737 section 3); otherwise it is a visitor.
  const validation = hello.alpn.length === 1 && offers(acmeAlpn)
  const speaks = validation ? "acme" : http ? "http" : "unknown"
  const { earlyData, ticket } = hello
  return { _tag: "Tunnel", host, speaks, earlyData, ...(ticket === undefined ? {} : { ticket }) }
}

/** `isPlatformHost`: whether a host belongs to the platform itself; `defaultHost`: for browsers that send no name. */
export const dispatch = (
  hello: ClientHello,
  isPlatformHost: (host: string) => boolean,
  defaultHost: string | undefined
): Destination => {
  const offers = (protocol: string) => hello.alpn.includes(protocol)
  const offersHttp = offers("http/1.1") || offers("h2")
  if (offers(muxAlpn)) return { _tag: "Mux" }
  if (offers(bytesAlpn)) return { _tag: "Bytes" }
  const host = hello.serverName
  if (offers("ct-edge-channel") || offers("ct-edge-channel-ka")) return { _tag: "Channel" }
  if (offers(gateAlpn)) return { _tag: "RelayGate" }
  if (host === disguisedHost) return { _tag: "Channel" }
  if (host !== undefined) {
    if (isPlatformHost(host)) return { _tag: "PlatformHost", host }
    return tunnel(hello, host)
  }
  if (defaultHost !== undefined && offersHttp) return { _tag: "PlatformHost", host: defaultHost }
  return { _tag: "Nowhere" }
}

/** At listeners for visitors only, the destination depends only on the name. */
export const dispatchVisitor = (hello: ClientHello): Destination =>
  hello.serverName === undefined ? { _tag: "Nowhere" } : tunnel(hello, hello.serverName)

/** At the mesh port every connection is an agent, a client or a peer edge, depending only on the protocol. */
export const dispatchMesh = (hello: ClientHello): Destination => ({
  _tag: hello.alpn.includes(muxAlpn) ? "Mux" : "Bytes"
})
