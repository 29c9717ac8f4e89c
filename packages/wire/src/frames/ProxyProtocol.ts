/** Header of the PROXY protocol, version 2: tells an origin who the visitor is before the visitor's first byte. */
import { Buffer } from "node:buffer"
import { isIPv4, isIPv6 } from "node:net"

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
const local = 0x20
const proxy = 0x21
const authorityType = 0x02

const v4Bytes = (address: string): Buffer => Buffer.from(address.split(".").map(Number))

/** The 16 bytes of an IPv6 literal, with or without `::`, an embedded IPv4 tail or a zone. */
const v6Bytes = (literal: string): Buffer => {
  const [address = ""] = literal.split("%")
  const hex = address.replace(/\d+\.\d+\.\d+\.\d+$/, (tail) => {
    const bytes = v4Bytes(tail)
    return `${bytes.readUInt16BE(0).toString(16)}:${bytes.readUInt16BE(2).toString(16)}`
  })
  const [left = "", right] = hex.split("::")
  const words = (part: string) => (part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16)))
  const head = words(left)
  const tail = right === undefined ? [] : words(right)
  const out = Buffer.alloc(16)
  head.forEach((word, index) => out.writeUInt16BE(word, index * 2))
  tail.forEach((word, index) => out.writeUInt16BE(word, 16 - (tail.length - index) * 2))
  return out
}

const mapped = Buffer.from("00000000000000000000ffff", "hex")
const asV6 = (address: string): Buffer =>
  isIPv4(address) ? Buffer.concat([mapped, v4Bytes(address)]) : v6Bytes(address)

/** An IPv4 address that a dual-stack socket shows as `::ffff:a.b.c.d` is sent as what it is. */
const plain = (address: string): string => {
  const tail = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return tail !== undefined && isIPv4(tail) ? tail : address
}

const isAddress = (address: string): boolean => isIPv4(address) || isIPv6(address)

const addresses = (source: Address, destination: Address): { readonly family: number; readonly block: Buffer } => {
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(source.port, 0)
  ports.writeUInt16BE(destination.port, 2)
  const [from, to] = [plain(source.address), plain(destination.address)]
  return isIPv4(from) && isIPv4(to)
    ? { family: 0x11, block: Buffer.concat([v4Bytes(from), v4Bytes(to), ports]) }
    : { family: 0x21, block: Buffer.concat([asV6(from), asV6(to), ports]) }
}

/**
 * TCP over IPv4 or IPv6; `LOCAL` (no claim about the visitor) without a source or when it is not an IP address. An
 * unknown destination is sent as the unspecified address of the source's family.
 */
export const encodeProxyHeader = (header: ProxyHeader): Buffer => {
  const { authority, source } = header
  if (source === undefined || !isAddress(source.address))
    return Buffer.concat([signature, Buffer.from([local, 0, 0, 0])])
  const unspecified = { address: isIPv4(plain(source.address)) ? "0.0.0.0" : "::", port: 0 }
  const known = header.destination !== undefined && isAddress(header.destination.address)
  const { block, family } = addresses(source, known ? (header.destination ?? unspecified) : unspecified)
  const name = Buffer.from(authority ?? "", "utf8").subarray(0, 255)
  const tlv = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([authorityType, 0, name.length]), name])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(block.length + tlv.length)
  return Buffer.concat([signature, Buffer.from([proxy, family]), length, block, tlv])
}
