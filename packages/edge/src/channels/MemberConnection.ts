/** Properties of a member's connection that depend on its carrier (signed-bytes 6.1). */
import type { Phase } from "@catenet/crypto/admission/Join"
import { addressBlock, isIP, plainAddress } from "@catenet/platform/IpAddress"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import type { AuditedLeg } from "../audit/AuditLog.ts"
import { endpointsOf } from "../listen/ConnectionAddresses.ts"

export interface MemberConnection {
  /** The member understands NUL bytes while it waits, and keeps its side open. */
  readonly keepAlive: boolean
  /** Members may send the phase first. */
  readonly marked: boolean
  /** The phase of all members on this carrier. */
  readonly phase: Phase | undefined
  /** Its name in the audit log. */
  readonly leg: AuditedLeg
  /** It cannot be half-closed: when one side ends, the connection is gone. */
  readonly closesWhole?: boolean
  /** The remote address `ip:port`; undefined behind a proxy. */
  readonly observed: string | undefined
  /** The address by which joins are counted, possibly from a proxy; undefined if the proxy names none. */
  readonly address: string | undefined
  /** End of the connection, if that is not the end of the join's stream. */
  readonly ended?: Promise<unknown>
}

/** In the order of the edge's preference. */
export const channelAlpn = ["ct-edge-channel-ka", "ct-edge-channel", "http/1.1", "h2"] as const

/** The protocol of the gate to a relay node. */
export const gateAlpn = "ct-edge-relay"

/** The ALPN name of the disguised form, which any client may offer. */
export const disguisedHost = "edge-cdn.invalid"

const keepsAlive = (protocol: string | false | null) => protocol === "ct-edge-channel-ka" || protocol === "http/1.1"

const written = ({ address, port }: { readonly address: string; readonly port: number }) =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`

const seen = (socket: Socket) => {
  const { client } = endpointsOf(socket)
  return { observed: client && written(client), address: socket.remoteAddress }
}

/** A member at the front door: the selected protocol determines the dialect. */
export const atFrontDoor = (socket: TLSSocket): MemberConnection => {
  const keepAlive = keepsAlive(socket.alpnProtocol)
  return { ...seen(socket), leg: "tls_channel", keepAlive, marked: keepAlive, phase: undefined }
}

/** A member at the gate sends no phase and does not wait. */
export const atGate = (socket: TLSSocket): MemberConnection => ({
  ...seen(socket),
  leg: "relay_gate",
  keepAlive: false,
  marked: false,
  phase: undefined
})

/** A member at a port with a fixed phase. The protocol is that of the front door; a phase sent by the member is ignored. */
export const atPort = (socket: TLSSocket, phase: Phase): MemberConnection => ({
  ...seen(socket),
  leg: "tls_channel",
  keepAlive: keepsAlive(socket.alpnProtocol),
  marked: true,
  phase
})

/** The key by which the connection counts against a cap. Connections from a proxy without an address share one key. */
export const countedBy = (address: string | undefined) => (address === undefined ? "unnamed" : addressBlock(address))

/** Joins through a proxy are counted separately from direct ones, because only the proxy vouches for the address. */
const throughProxy = (address: string) => `proxied ${addressBlock(address)}`

/**
 * The client's address from a proxy: the last entry of `X-Forwarded-For`, which the proxy appended. The client may have written
 * the others.
 */
export const namedByProxy = ({ headers }: Pick<IncomingMessage, "headers">): string | undefined => {
  const last = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .at(-1)
    ?.trim()
  return last !== undefined && isIP(last) !== 0 ? throughProxy(last) : undefined
}

/** A member on a WebSocket, which has its own pings: connected directly, or through a proxy that names its address. */
export const overWebSocket = (from: Socket | { readonly address: string | undefined }): MemberConnection => ({
  ...("remoteAddress" in from ? seen(from) : { observed: undefined, address: from.address }),
  leg: "ws_channel",
  closesWhole: true,
  keepAlive: false,
  marked: false,
  phase: undefined
})

/**
 * A member on QUIC: each port has a fixed phase, and a phase sent by the member is ignored. QUIC itself keeps the connection
 * alive.
 */
export const overQuic = ({ closed, remote: { address, port } }: QuicConnection, phase: Phase): MemberConnection => ({
  observed: written({ address: plainAddress(address), port }),
  address,
  leg: "quic_channel",
  keepAlive: false,
  marked: true,
  phase,
  ended: closed
})
