/**
 * The header of the PROXY protocol, version 2: a proxy tells whose connection it passes on, before the client's first byte.
 */
import { NetAddress } from "effect/net"
import { Buffer } from "node:buffer"
import { parseIp } from "./IpAddress.ts"

export interface Address {
  /** IPv4 or IPv6 literal. */
  readonly address: string
  readonly port: number
}

export interface ProxyHeader {
  readonly source?: Address
  readonly destination?: Address
  /** The host name the visitor asked for (TLV `PP2_TYPE_AUTHORITY`). */
  readonly authority?: string
}

const signature = Buffer.from("0d0a0d0a000d0a515549540a", "hex")
/** Signature, version and command, family, length. */
const fixed = 16
/** Addresses and what else a proxy may add; a longer header is not waited for. */
const longest = 2048

const version = 0x20
const local = 0x0
const proxied = 0x1
const authorityType = 0x02

const tcpOver4 = 0x11
const tcpOver6 = 0x21
/** Address families over TCP, with the length of one address. */
const widths: ReadonlyMap<number, 4 | 16> = new Map([
  [tcpOver4, 4],
  [tcpOver6, 16]
])

const octetsOf = (ip: NetAddress.IpAddress, width: 4 | 16): Uint8Array => {
  if (NetAddress.isIpv6Address(ip)) return Uint8Array.from(NetAddress.ipv6ToOctets(ip))
  const octets = NetAddress.ipv4ToOctets(ip)
  return width === 4 ? Uint8Array.from(octets) : Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...octets)
}

interface End {
  readonly ip: NetAddress.IpAddress
  readonly port: number
}

const endOf = (address: Address | undefined): End | undefined => {
  const ip = address && parseIp(address.address)
  return address === undefined || ip === undefined ? undefined : { ip, port: address.port }
}

const addressesOf = (source: End, destination: End): { readonly family: number; readonly block: Buffer } => {
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(source.port, 0)
  ports.writeUInt16BE(destination.port, 2)
  const width = NetAddress.isIpv4Address(source.ip) && NetAddress.isIpv4Address(destination.ip) ? 4 : 16
  return {
    family: width === 4 ? tcpOver4 : tcpOver6,
    block: Buffer.concat([octetsOf(source.ip, width), octetsOf(destination.ip, width), ports])
  }
}

const unspecified = (like: NetAddress.IpAddress): End => ({
  ip: NetAddress.ipFromStringUnsafe(NetAddress.isIpv4Address(like) ? "0.0.0.0" : "::"),
  port: 0
})

/**
 * TCP over IPv4 or IPv6, where IPv4 in IPv6 counts as IPv4; `LOCAL` (no claim about the visitor) without a source or when it is not
 * an IP address. An unknown destination is sent as the unspecified address of the source's family.
 */
export const encodeProxyHeader = (header: ProxyHeader): Buffer => {
  const source = endOf(header.source)
  if (source === undefined) return Buffer.concat([signature, Buffer.from([version | local, 0, 0, 0])])
  const { block, family } = addressesOf(source, endOf(header.destination) ?? unspecified(source.ip))
  const name = Buffer.from(header.authority ?? "", "utf8").subarray(0, 255)
  const tlv = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([authorityType, 0, name.length]), name])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(block.length + tlv.length)
  return Buffer.concat([signature, Buffer.from([version | proxied, family]), length, block, tlv])
}

export type Read =
  /** More bytes are needed. */
  | { readonly _tag: "Partial" }
  /** The bytes are something else. */
  | { readonly _tag: "Absent" }
  /** The bytes begin as a header and go on as none. */
  | { readonly _tag: "Malformed" }
  /** `client` is absent where the proxy speaks for itself, or of something that is not TCP. */
  | { readonly _tag: "Header"; readonly length: number; readonly client: Address | undefined }

const clientOf = (family: number, block: Uint8Array): Address | undefined => {
  const width = widths.get(family)
  if (width === undefined) return undefined
  const bytes = block.subarray(0, width)
  const address = width === 4 ? NetAddress.ipv4FromBytesUnsafe(bytes) : NetAddress.ipv6FromBytesUnsafe(bytes)
  const ports = new DataView(block.buffer, block.byteOffset + 2 * width, 4)
  return { address: NetAddress.formatIp(NetAddress.toCanonical(address)), port: ports.getUint16(0) }
}

/** What stands at the beginning of a connection. */
export const readProxyHeader = (bytes: Uint8Array): Read => {
  const seen = Math.min(bytes.length, signature.length)
  for (let at = 0; at < seen; at++) if (bytes[at] !== signature[at]) return { _tag: "Absent" }
  if (bytes.length < fixed) return { _tag: "Partial" }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [itsVersion, command] = [view.getUint8(12) & 0xf0, view.getUint8(12) & 0x0f]
  const family = view.getUint8(13)
  const rest = view.getUint16(14)
  const length = fixed + rest
  if (itsVersion !== version || (command !== local && command !== proxied) || length > longest)
    return { _tag: "Malformed" }
  const width = widths.get(family)
  if (command === proxied && width !== undefined && rest < 2 * width + 4) return { _tag: "Malformed" }
  if (bytes.length < length) return { _tag: "Partial" }
  return {
    _tag: "Header",
    length,
    client: command === local ? undefined : clientOf(family, bytes.subarray(fixed, length))
  }
}
