/**
 * Reads the header of the PROXY protocol, version 2, with which a proxy says whose connection it passes on. The codec of
 * `wire` only writes it, and is out of reach of this package, which knows no carriers; this is the reading half.
 */
import { NetAddress } from "effect/net"

export type Read =
  /** More bytes are needed. */
  | { readonly _tag: "Partial" }
  /** The bytes are something else. */
  | { readonly _tag: "Absent" }
  /** The bytes begin as a header and go on as none. */
  | { readonly _tag: "Malformed" }
  /** `client` is absent where the proxy speaks for itself, or of something that is not TCP. */
  | { readonly _tag: "Header"; readonly length: number; readonly client: Client | undefined }

export interface Client {
  readonly address: string
  readonly port: number
}

const signature = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a)
/** Signature, version and command, family, length. */
const fixed = 16
/** Addresses and what else a proxy may add; a longer header is not waited for. */
const longest = 2048

const isV2 = 0x20
const local = 0x0
const proxied = 0x1

/** Address families over TCP, with the length of one address. */
const widths: ReadonlyMap<number, 4 | 16> = new Map([
  [0x11, 4],
  [0x21, 16]
])

const clientOf = (family: number, block: Uint8Array): Client | undefined => {
  const width = widths.get(family)
  if (width === undefined) return undefined
  const bytes = block.subarray(0, width)
  const address = width === 4 ? NetAddress.ipv4FromBytesUnsafe(bytes) : NetAddress.ipv6FromBytesUnsafe(bytes)
  const ports = new DataView(block.buffer, block.byteOffset + 2 * width, 4)
  return { address: NetAddress.formatIp(NetAddress.toCanonical(address)), port: ports.getUint16(0) }
}

/** What stands at the beginning of a connection. */
export const read = (bytes: Uint8Array): Read => {
  const seen = Math.min(bytes.length, signature.length)
  for (let at = 0; at < seen; at++) if (bytes[at] !== signature[at]) return { _tag: "Absent" }
  if (bytes.length < fixed) return { _tag: "Partial" }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [version, command] = [view.getUint8(12) & 0xf0, view.getUint8(12) & 0x0f]
  const family = view.getUint8(13)
  const rest = view.getUint16(14)
  const length = fixed + rest
  if (version !== isV2 || (command !== local && command !== proxied) || length > longest) return { _tag: "Malformed" }
  const width = widths.get(family)
  if (command === proxied && width !== undefined && rest < 2 * width + 4) return { _tag: "Malformed" }
  if (bytes.length < length) return { _tag: "Partial" }
  return {
    _tag: "Header",
    length,
    client: command === local ? undefined : clientOf(family, bytes.subarray(fixed, length))
  }
}
