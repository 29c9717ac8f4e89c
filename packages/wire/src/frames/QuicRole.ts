/**
 * The roles of a stream on the QUIC carrier (data-plane 4): its first byte, its fields, and the two replies that hold more
 * than a verdict. A stream with another role opens like one over TLS (`Role`); `C` is followed by the rendezvous.
 * Addresses, host names and certificates are carried and not judged here.
 */
import { Buffer } from "node:buffer"
import { Cursor } from "./Cursor.ts"
import { decoded, type Decoding, malformed, needMore } from "./Frame.ts"
import { maxHostBytes, tokenBytes } from "./Role.ts"

/** Where an agent listens for clients of its own, with the certificate that listener shows. */
export interface DirectListener {
  readonly address: string
  readonly certificate: Uint8Array
}

/**
 * `A` registers, `D` advertises a direct listener, `H` binds a host name, `P` asks for the direct listener of a tunnel,
 * `R` revokes a token, `W` asks for one's own address, `C` is a client.
 */
export type QuicRole =
  | { readonly role: "A" | "P"; readonly token: Uint8Array }
  | { readonly role: "D"; readonly token: Uint8Array; readonly listener: DirectListener }
  | { readonly role: "H"; readonly token: Uint8Array; readonly host: string }
  | { readonly role: "R"; readonly adminToken: Uint8Array; readonly token: Uint8Array }
  | { readonly role: "C" | "W" }

/** How a connection is closed whose last registration was revoked. */
export const revokedClose = { code: 1, reason: "revoked" } as const

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const tokenOf = (token: Uint8Array): Uint8Array => {
  if (token.length !== tokenBytes) throw new RangeError(`a token has ${tokenBytes} bytes`)
  return token
}

const prefixed = (length: 1 | 2, bytes: Uint8Array): Buffer => {
  const size = Buffer.alloc(length)
  size.writeUIntBE(bytes.length, 0, length)
  return Buffer.concat([size, bytes])
}

const hostOf = (host: string): Buffer => {
  const bytes = Buffer.from(host, "utf8")
  if (bytes.length < 1 || bytes.length > maxHostBytes) throw new RangeError(`a host has 1 to ${maxHostBytes} bytes`)
  return prefixed(2, bytes)
}

const listenerBytes = ({ address, certificate }: DirectListener): Buffer =>
  Buffer.concat([prefixed(1, Buffer.from(address, "utf8")), prefixed(2, certificate)])

const readListener = (cursor: Cursor): DirectListener | undefined => {
  const address = textOf(cursor.take(cursor.u8()))
  const certificate = Uint8Array.from(cursor.take(cursor.u16()))
  return address === undefined ? undefined : { address, certificate }
}

const fieldsOf = (opened: QuicRole): ReadonlyArray<Uint8Array> => {
  switch (opened.role) {
    case "A":
    case "P":
      return [tokenOf(opened.token)]
    case "D":
      return [tokenOf(opened.token), listenerBytes(opened.listener)]
    case "H":
      return [tokenOf(opened.token), hostOf(opened.host)]
    case "R":
      return [tokenOf(opened.adminToken), tokenOf(opened.token)]
    case "C":
    case "W":
      return []
  }
}

/** Throws a `RangeError` for a token, host, address or certificate that the frame has no room for. */
export const encodeQuicRole = (opened: QuicRole): Buffer =>
  Buffer.concat([Buffer.from(opened.role, "latin1"), ...fieldsOf(opened)])

const answered = <A>(bytes: Uint8Array, cursor: Cursor, value: A | undefined, why: string): Decoding<A> => {
  if (cursor.overrun) return needMore
  return value === undefined ? malformed(why) : decoded(value, bytes.length - cursor.left)
}

/** The role at the start of a stream, with its fields. */
export const decodeQuicRole = (bytes: Uint8Array): Decoding<QuicRole> => {
  const cursor = new Cursor(bytes)
  const role = String.fromCharCode(cursor.u8())
  if (cursor.overrun) return needMore
  const token = () => Uint8Array.from(cursor.take(tokenBytes))
  switch (role) {
    case "A":
    case "P":
      return answered(bytes, cursor, { role, token: token() }, "")
    case "C":
    case "W":
      return decoded({ role }, 1)
    case "D": {
      const owner = token()
      const listener = readListener(cursor)
      return answered(bytes, cursor, listener && { role, token: owner, listener }, "address is not UTF-8")
    }
    case "H": {
      const owner = token()
      const length = cursor.u16()
      if (!cursor.overrun && (length < 1 || length > maxHostBytes)) return malformed("host length")
      const host = textOf(cursor.take(length))
      return answered(bytes, cursor, host === undefined ? undefined : { role, token: owner, host }, "host is not UTF-8")
    }
    case "R":
      return answered(bytes, cursor, { role, adminToken: token(), token: token() }, "")
    default:
      return malformed("unknown role")
  }
}

/** The answer to `P`: the tunnel's direct listener, or null. */
export const encodePeerReply = (listener: DirectListener | null): Buffer =>
  listener === null ? Buffer.from([0]) : Buffer.concat([Buffer.from([1]), listenerBytes(listener)])

export const decodePeerReply = (bytes: Uint8Array): Decoding<DirectListener | null> => {
  const cursor = new Cursor(bytes)
  const found = cursor.u8()
  if (cursor.overrun) return needMore
  if (found > 1) return malformed("neither 0 nor 1")
  return found === 0 ? decoded(null, 1) : answered(bytes, cursor, readListener(cursor), "address is not UTF-8")
}

/** The answer to `W`: the address the edge sees. */
export const encodeAddressReply = (address: string): Buffer => prefixed(1, Buffer.from(address, "utf8"))

export const decodeAddressReply = (bytes: Uint8Array): Decoding<string> => {
  const cursor = new Cursor(bytes)
  return answered(bytes, cursor, textOf(cursor.take(cursor.u8())), "address is not UTF-8")
}
