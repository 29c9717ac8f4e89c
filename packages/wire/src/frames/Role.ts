/**
 * Admission frames of the TLS-TCP carrier (data-plane 5.1): what a connection wants to be, said in its first bytes.
 * Host names are carried as text and not judged here; the edge refuses those without a normal form.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { decoded, type Decoding, malformed, needMore, view } from "./Frame.ts"

export const tokenBytes = 32
export const maxHostBytes = 253

export type MeshRole = "A" | "K"
export type BrowserRole = "B" | "L" | "F"
export type SlotRole = MeshRole | BrowserRole

/** `A` and `K`: a slot for mesh clients, silent or with park ping. */
export interface MeshSlot {
  readonly role: MeshRole
  readonly token: Uint8Array
}
/** `B`, `L` and `F`: a slot for browsers of `host`; silent, with park ping, or with park ping and framed relay. */
export interface BrowserSlot {
  readonly role: BrowserRole
  readonly token: Uint8Array
  readonly host: string
}
/** `C`: a mesh client; the rendezvous follows. */
export interface MeshClient {
  readonly role: "C"
}
/** `M`: another edge that brings a visitor of `host`. */
export interface PeerEdge {
  readonly role: "M"
  readonly adminToken: Uint8Array
  readonly host: string
}
/** `H`: another edge that brings members of channels, as streams of one multiplexed session. */
export interface PeerRoom {
  readonly role: "H"
  readonly adminToken: Uint8Array
}
export type Admission = MeshSlot | BrowserSlot | MeshClient | PeerEdge | PeerRoom

/** The part of an admission that is known before its host name arrived. */
export type AdmissionHead = { readonly role: "C" } | { readonly role: SlotRole | "M" | "H"; readonly token: Uint8Array }

/** Reply to an admission that was accepted. */
export const admittedReply: Buffer = Buffer.from("OK", "latin1")
/** Reply to an admission that was not; the protocol has no room for a reason. */
export const refusedReply: Buffer = Buffer.from("NO", "latin1")

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const text = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Throws a `RangeError` when the token is not 32 bytes or the host not 1..253: such a frame cannot be written. */
export const encodeAdmission = (admission: Admission): Buffer => {
  if (admission.role === "C") return Buffer.from("C", "latin1")
  const token = "adminToken" in admission ? admission.adminToken : admission.token
  if (token.length !== tokenBytes) throw new RangeError(`a token has ${tokenBytes} bytes`)
  const head = Buffer.concat([Buffer.from(admission.role, "latin1"), token])
  if (!("host" in admission)) return head
  const host = Buffer.from(admission.host, "utf8")
  if (host.length < 1 || host.length > maxHostBytes) throw new RangeError(`a host has 1 to ${maxHostBytes} bytes`)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(host.length)
  return Buffer.concat([head, length, host])
}

const roleOf = (byte: number): Admission["role"] | undefined => {
  const role = String.fromCharCode(byte)
  switch (role) {
    case "A":
    case "K":
    case "B":
    case "L":
    case "F":
    case "C":
    case "M":
    case "H":
      return role
    default:
      return undefined
  }
}

/** Role and token only: an edge without room answers after these and reads no further. */
export const decodeAdmissionHead = (bytes: Uint8Array): Decoding<AdmissionHead> => {
  const [first] = bytes
  if (first === undefined) return needMore
  const role = roleOf(first)
  if (role === undefined) return malformed("unknown role")
  if (role === "C") return decoded({ role }, 1)
  if (bytes.length < 1 + tokenBytes) return needMore
  return decoded({ role, token: Uint8Array.from(bytes.subarray(1, 1 + tokenBytes)) }, 1 + tokenBytes)
}

const decodeHost = (bytes: Uint8Array, at: number): Decoding<string> => {
  const buffer = view(bytes)
  if (buffer.length < at + 2) return needMore
  const length = buffer.readUInt16BE(at)
  if (length < 1 || length > maxHostBytes) return malformed("host length")
  const end = at + 2 + length
  if (buffer.length < end) return needMore
  const host = text(buffer.subarray(at + 2, end))
  return host === undefined ? malformed("host is not UTF-8") : decoded(host, end)
}

/** A whole admission frame. */
export const decodeAdmission = (bytes: Uint8Array): Decoding<Admission> => {
  const head = decodeAdmissionHead(bytes)
  if (head._tag === "Failure") return Result.fail(head.failure)
  const { size, value } = head.success
  switch (value.role) {
    case "C":
      return decoded({ role: "C" }, size)
    case "A":
    case "K":
      return decoded({ role: value.role, token: value.token }, size)
    case "H":
      return decoded({ role: "H", adminToken: value.token }, size)
    default: {
      const host = decodeHost(bytes, size)
      if (host._tag === "Failure") return Result.fail(host.failure)
      const found = host.success.value
      return value.role === "M"
        ? decoded({ role: "M", adminToken: value.token, host: found }, host.success.size)
        : decoded({ role: value.role, token: value.token, host: found }, host.success.size)
    }
  }
}

/** `true` for `OK`, `false` for `NO`. */
export const decodeReply = (bytes: Uint8Array): Decoding<boolean> => {
  const [first, second] = bytes
  for (const reply of [admittedReply, refusedReply]) {
    if (first !== undefined && first !== reply[0]) continue
    if (first === undefined || second === undefined) return needMore
    if (second === reply[1]) return decoded(reply === admittedReply, 2)
  }
  return malformed("neither OK nor NO")
}
