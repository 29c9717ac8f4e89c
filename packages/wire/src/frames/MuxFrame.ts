/**
 * Frames of the multiplexed carrier (ALPN `ct-edge-mux`): an 8-byte header `type u8, length u24, id u32`, then `length`
 * bytes. `id` is a stream for stream frames, a registration for registration frames, else zero. Frame types from 0x80
 * are extensions that a reader skips which does not know them; every other unknown type is an error.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed } from "./Frame.ts"
import {
  decodeCertificate,
  encodeCertificate,
  type HostCertificate,
  minCertificateBytes,
  maxCertificateBytes
} from "./MuxCertificate.ts"
import {
  decodeEchoed,
  decodeSerial,
  encodeEcho,
  encodeEchoed,
  maxEchoBytes,
  type OriginEcho,
  serialBytes
} from "./MuxEcho.ts"
import { decodeHello, encodeHello, maxWindow, type MuxHello } from "./MuxHello.ts"
import { decodeOpen, encodeOpen, type OpenHeader } from "./MuxOpen.ts"
import { decodeRevision, encodeRevision, revisionBytes } from "./MuxPolicy.ts"
import { type CloseCode, CloseReason, maxReasonBytes, type Reason, type ResetCode, ResetReason } from "./MuxReason.ts"
import {
  decodeRefusal,
  decodeRegister,
  decodeRegistered,
  encodeRefusal,
  encodeRegister,
  encodeRegistered,
  type Refusal,
  type Registered,
  type RegisterRequest
} from "./MuxRegister.ts"

export const headerBytes = 8
/** Longest payload of a DATA frame: one stream holds the carrier no longer than this. */
export const maxDataBytes = 32 * 1024
const maxExtensionBytes = 16 * 1024
const firstExtension = 0x80

export const FrameType = {
  Hello: 0x01,
  Register: 0x02,
  Registered: 0x03,
  Refused: 0x04,
  Withdraw: 0x05,
  Open: 0x10,
  Data: 0x11,
  Fin: 0x12,
  Reset: 0x13,
  Window: 0x14,
  Ping: 0x20,
  Pong: 0x21,
  Ack: 0x22,
  GoAway: 0x23,
  Close: 0x24,
  Echo: 0x80,
  Echoed: 0x81,
  Certificate: 0x82,
  Policy: 0x83
} as const

/** Every frame but DATA, whose payload is not held together. */
export type ControlFrame =
  | { readonly _tag: "Hello"; readonly hello: MuxHello }
  | { readonly _tag: "Register"; readonly id: number; readonly request: RegisterRequest }
  | { readonly _tag: "Registered"; readonly id: number; readonly answer: Registered }
  /** Refuses a registration, or ends one that was accepted. */
  | { readonly _tag: "Refused"; readonly id: number; readonly refusal: Refusal }
  | { readonly _tag: "Withdraw"; readonly id: number }
  | { readonly _tag: "Open"; readonly id: number; readonly header: OpenHeader }
  | { readonly _tag: "Fin"; readonly id: number }
  | { readonly _tag: "Reset"; readonly id: number; readonly reason: Reason<ResetCode> }
  /** `credit` more bytes may be sent on the stream. */
  | { readonly _tag: "Window"; readonly id: number; readonly credit: number }
  | { readonly _tag: "Ping"; readonly nonce: bigint }
  | { readonly _tag: "Pong"; readonly nonce: bigint }
  /** `bytes` more payload bytes of DATA arrived, of whatever stream. */
  | { readonly _tag: "Ack"; readonly bytes: number }
  | { readonly _tag: "GoAway"; readonly reason: Reason<CloseCode> }
  | { readonly _tag: "Close"; readonly reason: Reason<CloseCode> }
  /** Asks the agent of a registration for its origin. */
  | { readonly _tag: "Echo"; readonly id: number; readonly serial: number }
  | { readonly _tag: "Echoed"; readonly id: number; readonly serial: number; readonly echo: OriginEcho }
  /** What the agent of a registration says of its certificate for one of the hosts. */
  | { readonly _tag: "Certificate"; readonly id: number; readonly certificate: HostCertificate }
  /** The policy of the registration's tunnel has changed. */
  | { readonly _tag: "Policy"; readonly id: number; readonly revision: bigint }
  | { readonly _tag: "Extension"; readonly type: number }

export type MuxFrame = ControlFrame | { readonly _tag: "Data"; readonly id: number; readonly payload: Uint8Array }

/** Extensions are only ever skipped, so none can be written. */
export type SendableFrame = Exclude<MuxFrame, { readonly _tag: "Extension" }>

export interface Header {
  readonly type: number
  readonly length: number
  readonly id: number
}

/** Shortest and longest payload, and whether the frame names a stream or registration. */
const shapes = new Map<number, readonly [least: number, most: number, named: boolean]>([
  [FrameType.Hello, [0, 4096, false]],
  [FrameType.Register, [0, 16 * 1024, true]],
  [FrameType.Registered, [0, 4096, true]],
  [FrameType.Refused, [0, 1024, true]],
  [FrameType.Withdraw, [0, 0, true]],
  [FrameType.Open, [0, 1024, true]],
  [FrameType.Data, [1, maxDataBytes, true]],
  [FrameType.Fin, [0, 0, true]],
  [FrameType.Reset, [2, maxReasonBytes, true]],
  [FrameType.Window, [4, 4, true]],
  [FrameType.Ping, [8, 8, false]],
  [FrameType.Pong, [8, 8, false]],
  [FrameType.Ack, [4, 4, false]],
  [FrameType.GoAway, [2, maxReasonBytes, false]],
  [FrameType.Close, [2, maxReasonBytes, false]],
  [FrameType.Echo, [serialBytes, maxEchoBytes, true]],
  [FrameType.Echoed, [serialBytes, maxEchoBytes, true]],
  [FrameType.Certificate, [minCertificateBytes, maxCertificateBytes, true]],
  [FrameType.Policy, [revisionBytes, revisionBytes, true]]
])

/** Header of a frame at `at`, which must have {@link headerBytes} bytes behind it. */
export const decodeHeader = (bytes: Buffer, at: number): Result.Result<Header, Malformed> => {
  const type = bytes.readUInt8(at)
  const length = bytes.readUIntBE(at + 1, 3)
  const id = bytes.readUInt32BE(at + 4)
  const shape = shapes.get(type)
  if (shape === undefined) {
    if (type < firstExtension) return malformed("unknown frame")
    return length > maxExtensionBytes ? malformed("frame length") : Result.succeed({ type, length, id })
  }
  if (length < shape[0] || length > shape[1]) return malformed("frame length")
  if (shape[2] !== id > 0) return malformed("frame id")
  return Result.succeed({ type, length, id })
}

const counted = (value: number, make: (value: number) => ControlFrame): Result.Result<ControlFrame, Malformed> =>
  value === 0 || value > maxWindow ? malformed("count out of bounds") : Result.succeed(make(value))

/** Payload of any frame but DATA; `payload` has `header.length` bytes. */
export const decodeControl = ({ id, type }: Header, payload: Buffer): Result.Result<ControlFrame, Malformed> => {
  switch (type) {
    case FrameType.Hello:
      return Result.map(decodeHello(payload), (hello) => ({ _tag: "Hello", hello }))
    case FrameType.Register:
      return Result.map(decodeRegister(payload), (request) => ({ _tag: "Register", id, request }))
    case FrameType.Registered:
      return Result.map(decodeRegistered(payload), (answer) => ({ _tag: "Registered", id, answer }))
    case FrameType.Refused:
      return Result.map(decodeRefusal(payload), (refusal) => ({ _tag: "Refused", id, refusal }))
    case FrameType.Withdraw:
      return Result.succeed({ _tag: "Withdraw", id })
    case FrameType.Open:
      return Result.map(decodeOpen(payload), (header) => ({ _tag: "Open", id, header }))
    case FrameType.Fin:
      return Result.succeed({ _tag: "Fin", id })
    case FrameType.Reset:
      return Result.map(ResetReason.decode(payload), (reason) => ({ _tag: "Reset", id, reason }))
    case FrameType.Window:
      return counted(payload.readUInt32BE(0), (credit) => ({ _tag: "Window", id, credit }))
    case FrameType.Ping:
      return Result.succeed({ _tag: "Ping", nonce: payload.readBigUInt64BE(0) })
    case FrameType.Pong:
      return Result.succeed({ _tag: "Pong", nonce: payload.readBigUInt64BE(0) })
    case FrameType.Ack:
      return counted(payload.readUInt32BE(0), (bytes) => ({ _tag: "Ack", bytes }))
    case FrameType.GoAway:
      return Result.map(CloseReason.decode(payload), (reason) => ({ _tag: "GoAway", reason }))
    case FrameType.Close:
      return Result.map(CloseReason.decode(payload), (reason) => ({ _tag: "Close", reason }))
    case FrameType.Echo:
      return Result.succeed({ _tag: "Echo", id, serial: decodeSerial(payload) })
    case FrameType.Echoed:
      return Result.map(decodeEchoed(payload), (echoed) => ({ _tag: "Echoed", id, ...echoed }))
    case FrameType.Certificate:
      return Result.map(decodeCertificate(payload), (certificate) => ({ _tag: "Certificate", id, certificate }))
    case FrameType.Policy:
      return Result.succeed({ _tag: "Policy", id, revision: decodeRevision(payload) })
    default:
      return type >= firstExtension ? Result.succeed({ _tag: "Extension", type }) : malformed("unknown frame")
  }
}

/** The header alone; DATA payloads are written behind it without being copied. */
export const encodeHeader = (type: number, id: number, length: number): Buffer => {
  const bytes = Buffer.allocUnsafe(headerBytes)
  bytes.writeUInt32BE(type * 0x1000000 + length, 0)
  bytes.writeUInt32BE(id, 4)
  return bytes
}

const whole = (type: number, id: number, payload: Uint8Array): Buffer => {
  const bytes = Buffer.allocUnsafe(headerBytes + payload.length)
  bytes.writeUInt32BE(type * 0x1000000 + payload.length, 0)
  bytes.writeUInt32BE(id, 4)
  bytes.set(payload, headerBytes)
  return bytes
}

const withU32 = (type: number, id: number, value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(headerBytes + 4)
  bytes.writeUInt32BE(type * 0x1000000 + 4, 0)
  bytes.writeUInt32BE(id, 4)
  bytes.writeUInt32BE(value, headerBytes)
  return bytes
}

const withNonce = (type: number, nonce: bigint): Buffer => {
  const payload = Buffer.allocUnsafe(8)
  payload.writeBigUInt64BE(BigInt.asUintN(64, nonce), 0)
  return whole(type, 0, payload)
}

export const encodeMuxFrame = (frame: SendableFrame): Buffer => {
  switch (frame._tag) {
    case "Hello":
      return whole(FrameType.Hello, 0, encodeHello(frame.hello))
    case "Register":
      return whole(FrameType.Register, frame.id, encodeRegister(frame.request))
    case "Registered":
      return whole(FrameType.Registered, frame.id, encodeRegistered(frame.answer))
    case "Refused":
      return whole(FrameType.Refused, frame.id, encodeRefusal(frame.refusal))
    case "Withdraw":
      return encodeHeader(FrameType.Withdraw, frame.id, 0)
    case "Open":
      return whole(FrameType.Open, frame.id, encodeOpen(frame.header))
    case "Data":
      return whole(FrameType.Data, frame.id, frame.payload)
    case "Fin":
      return encodeHeader(FrameType.Fin, frame.id, 0)
    case "Reset":
      return whole(FrameType.Reset, frame.id, ResetReason.encode(frame.reason))
    case "Window":
      return withU32(FrameType.Window, frame.id, frame.credit)
    case "Ping":
      return withNonce(FrameType.Ping, frame.nonce)
    case "Pong":
      return withNonce(FrameType.Pong, frame.nonce)
    case "Ack":
      return withU32(FrameType.Ack, 0, frame.bytes)
    case "GoAway":
      return whole(FrameType.GoAway, 0, CloseReason.encode(frame.reason))
    case "Close":
      return whole(FrameType.Close, 0, CloseReason.encode(frame.reason))
    case "Echo":
      return whole(FrameType.Echo, frame.id, encodeEcho(frame.serial))
    case "Echoed":
      return whole(FrameType.Echoed, frame.id, encodeEchoed(frame.serial, frame.echo))
    case "Certificate":
      return whole(FrameType.Certificate, frame.id, encodeCertificate(frame.certificate))
    case "Policy":
      return whole(FrameType.Policy, frame.id, encodeRevision(frame.revision))
  }
}
