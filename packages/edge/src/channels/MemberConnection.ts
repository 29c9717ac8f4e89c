/** What a carrier says of the connection of a member, beside its bytes (signed-bytes 6.1). */
import type { Phase } from "@catenet/crypto/admission/Join"
import { addressBlock, isIP, plainAddress } from "@catenet/platform/IpAddress"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import type { AuditedLeg } from "../audit/AuditLog.ts"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"

export interface MemberConnection {
  /** The member understands NULs while it waits, and keeps its side open. */
  readonly keepAlive: boolean
  /** Members may say the phase first. */
  readonly marked: boolean
  /** The phase of everyone who comes this way. */
  readonly phase: Phase | undefined
  /** How the audit log names it. */
  readonly leg: AuditedLeg
  /** Its side of the connection does not end before the whole of it: what ends is gone. */
  readonly closesWhole?: boolean
  /** The other end as `ip:port`; absent behind a proxy. */
  readonly observed: string | undefined
  /** What joins are counted by: the address, or the one that a proxy names; absent where it names none. */
  readonly address: string | undefined
  /** When the connection is over, where that is not the end of the stream of the join. */
  readonly ended?: Promise<unknown>
}

/** In the order of the edge's preference. */
export const channelAlpn = ["ct-edge-channel-ka", "ct-edge-channel", "http/1.1", "h2"] as const

/** The protocol of the gate to a relay node. */
export const gateAlpn = "ct-edge-relay"

/** The name of the disguised form, which any client may ask for. */
export const disguisedHost = "edge-cdn.invalid"

const keepsAlive = (protocol: string | false | null) => protocol === "ct-edge-channel-ka" || protocol === "http/1.1"

const written = ({ address, port }: { readonly address: string; readonly port: number }) =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`

const seen = (socket: Socket) => {
  const { client } = endpointsOf(socket)
  return { observed: client && written(client), address: socket.remoteAddress }
}

/** A member at the front door: the protocol that was selected says which dialect it speaks. */
export const atFrontDoor = (socket: TLSSocket): MemberConnection => {
  const keepAlive = keepsAlive(socket.alpnProtocol)
  return { ...seen(socket), leg: "tls_channel", keepAlive, marked: keepAlive, phase: undefined }
}

/** A member at the gate says no phase, and does not wait. */
export const atGate = (socket: TLSSocket): MemberConnection => ({
  ...seen(socket),
  leg: "relay_gate",
  keepAlive: false,
  marked: false,
  phase: undefined
})

/** A member at a port that has a phase. The bytes are those of the front door, and what a member says of the phase is ignored. */
export const atPort = (socket: TLSSocket, phase: Phase): MemberConnection => ({
  ...seen(socket),
  leg: "tls_channel",
  keepAlive: keepsAlive(socket.alpnProtocol),
  marked: true,
  phase
})

/** Whose share of a cap the connection takes. Those that a proxy brings without a name share one. */
export const countedBy = (address: string | undefined) => (address === undefined ? "unnamed" : addressBlock(address))

/** How joins through a proxy are counted: apart from those that come straight from the address, as the proxy alone vouches for it. */
const throughProxy = (address: string) => `proxied ${addressBlock(address)}`

/**
 * The address that a proxy names: the last of `X-Forwarded-For`, which the proxy has appended. What stands before it, the client may
 * have written.
 */
export const namedByProxy = ({ headers }: Pick<IncomingMessage, "headers">): string | undefined => {
  const last = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .at(-1)
    ?.trim()
  return last !== undefined && isIP(last) !== 0 ? throughProxy(last) : undefined
}

/** A member by WebSocket, which has pings of its own: by a connection of its own, or by a proxy that names its address. */
export const overWebSocket = (from: Socket | { readonly address: string | undefined }): MemberConnection => ({
  ...("remoteAddress" in from ? seen(from) : { observed: undefined, address: from.address }),
  leg: "ws_channel",
  closesWhole: true,
  keepAlive: false,
  marked: false,
  phase: undefined
})

/** A member by QUIC: each port has a phase, and what a member says of it is ignored. QUIC itself keeps the connection alive. */
export const overQuic = ({ closed, remote: { address, port } }: QuicConnection, phase: Phase): MemberConnection => ({
  observed: written({ address: plainAddress(address), port }),
  address,
  leg: "quic_channel",
  keepAlive: false,
  marked: true,
  phase,
  ended: closed
})
