/**
 * What the program and its QUIC process say to each other, each at the start of a stream of the link between them or on a stream
 * that such a frame began: length u32, tag u8, then tagged fields. A stream that begins with `Listen`, `Dial` or `Incoming` stays
 * open for as long as what it began; one that begins with `Stream` goes on with the bytes of a QUIC stream.
 * @internal
 */
import { decoded, type Decoding, malformed, needMore, view } from "../../frames/Frame.ts"
import {
  decodeFields,
  encodeFields,
  type Field,
  type Fields,
  readText,
  readU32,
  text,
  u32
} from "../../frames/MuxFields.ts"

/** An address literal and a port. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** Milliseconds, and streams that the peer may have open. */
export interface Transport {
  readonly keepAlive: number
  readonly idle: number
  readonly streams: number
}

export type Verdict = "accept" | "refuse"

/** Codes are those of QUIC's application close, RFC 9000 section 19.19. */
export type LinkFrame =
  | {
      readonly _tag: "Listen"
      readonly at: Endpoint
      readonly certificate: string
      readonly key: string
      readonly transport: Transport
    }
  | {
      readonly _tag: "Dial"
      readonly to: Endpoint
      readonly serverName: string
      /** PEM; besides them the public ones are trusted. A process that checks no certificate takes none. */
      readonly roots: string
      readonly transport: Transport
    }
  | { readonly _tag: "Incoming"; readonly listener: number; readonly remote: Endpoint }
  | { readonly _tag: "Stream"; readonly connection: number }
  | { readonly _tag: "Listening"; readonly at: Endpoint }
  | { readonly _tag: "Judged"; readonly verdict: Verdict }
  | { readonly _tag: "Connected"; readonly remote: Endpoint }
  | { readonly _tag: "Failed"; readonly why: string }
  | {
      readonly _tag: "Close"
      readonly code: number
      readonly reason: string
      /** Nothing came within the idle timeout. */ readonly isIdle?: boolean
    }

const kinds = ["Listen", "Dial", "Incoming", "Stream", "Listening", "Judged", "Connected", "Failed", "Close"] as const
const verdicts = ["accept", "refuse"] as const

const tags = {
  address: 1,
  port: 2,
  certificate: 3,
  key: 4,
  serverName: 5,
  roots: 6,
  keepAlive: 7,
  idle: 8,
  streams: 9,
  number: 10,
  verdict: 11,
  why: 12,
  isIdle: 13
} as const

const head = 5
/** Two certificates and a key fit many times. */
const maxFrameBytes = 256 * 1024

const endpoint = ({ address, port }: Endpoint): ReadonlyArray<Field> => [
  [tags.address, text(address)],
  [tags.port, u32(port)]
]

const transport = ({ idle, keepAlive, streams }: Transport): ReadonlyArray<Field> => [
  [tags.keepAlive, u32(keepAlive)],
  [tags.idle, u32(idle)],
  [tags.streams, u32(streams)]
]

const fieldsOf = (frame: LinkFrame): ReadonlyArray<Field> => {
  switch (frame._tag) {
    case "Listen":
      return [
        ...endpoint(frame.at),
        [tags.certificate, text(frame.certificate)],
        [tags.key, text(frame.key)],
        ...transport(frame.transport)
      ]
    case "Dial":
      return [
        ...endpoint(frame.to),
        [tags.serverName, text(frame.serverName)],
        [tags.roots, text(frame.roots)],
        ...transport(frame.transport)
      ]
    case "Incoming":
      return [...endpoint(frame.remote), [tags.number, u32(frame.listener)]]
    case "Stream":
      return [[tags.number, u32(frame.connection)]]
    case "Listening":
      return endpoint(frame.at)
    case "Judged":
      return [[tags.verdict, Uint8Array.of(verdicts.indexOf(frame.verdict))]]
    case "Connected":
      return endpoint(frame.remote)
    case "Failed":
      return [[tags.why, text(frame.why)]]
    case "Close":
      return [
        [tags.number, u32(frame.code)],
        [tags.why, text(frame.reason)],
        ...(frame.isIdle === true ? [[tags.isIdle, Uint8Array.of(1)] as const] : [])
      ]
  }
}

/** Throws a `RangeError` for a field of more than 65,535 bytes. */
export const encode = (frame: LinkFrame): Buffer => {
  const fields = fieldsOf(frame)
  if (fields.some(([, bytes]) => bytes.length > 0xffff)) throw new RangeError("a field has at most 65,535 bytes")
  const body = encodeFields(fields)
  const bytes = Buffer.allocUnsafe(head + body.length)
  bytes.writeUInt32BE(1 + body.length, 0)
  bytes[4] = kinds.indexOf(frame._tag)
  bytes.set(body, head)
  return bytes
}

const readEndpoint = (fields: Fields): Endpoint | undefined => {
  const address = readText(fields, tags.address)
  const port = readU32(fields, tags.port)
  return address === undefined || port === undefined || port > 0xffff ? undefined : { address, port }
}

const readTransport = (fields: Fields): Transport | undefined => {
  const keepAlive = readU32(fields, tags.keepAlive)
  const idle = readU32(fields, tags.idle)
  const streams = readU32(fields, tags.streams)
  return keepAlive === undefined || idle === undefined || streams === undefined
    ? undefined
    : { keepAlive, idle, streams }
}

const read = (kind: (typeof kinds)[number], fields: Fields): LinkFrame | undefined => {
  const number = readU32(fields, tags.number)
  switch (kind) {
    case "Listen": {
      const [at, settings] = [readEndpoint(fields), readTransport(fields)]
      const [certificate, key] = [readText(fields, tags.certificate), readText(fields, tags.key)]
      if (at === undefined || settings === undefined || certificate === undefined || key === undefined) return undefined
      return { _tag: kind, at, certificate, key, transport: settings }
    }
    case "Dial": {
      const [to, settings] = [readEndpoint(fields), readTransport(fields)]
      const [serverName, roots] = [readText(fields, tags.serverName), readText(fields, tags.roots)]
      if (to === undefined || settings === undefined || serverName === undefined || roots === undefined)
        return undefined
      return { _tag: kind, to, serverName, roots, transport: settings }
    }
    case "Incoming": {
      const remote = readEndpoint(fields)
      return remote === undefined || number === undefined ? undefined : { _tag: kind, listener: number, remote }
    }
    case "Stream":
      return number === undefined ? undefined : { _tag: kind, connection: number }
    case "Listening": {
      const at = readEndpoint(fields)
      return at && { _tag: kind, at }
    }
    case "Connected": {
      const remote = readEndpoint(fields)
      return remote && { _tag: kind, remote }
    }
    case "Judged": {
      const verdict = verdicts[fields.get(tags.verdict)?.[0]?.[0] ?? verdicts.length]
      return verdict && { _tag: kind, verdict }
    }
    case "Failed": {
      const why = readText(fields, tags.why)
      return why === undefined ? undefined : { _tag: kind, why }
    }
    case "Close": {
      const reason = readText(fields, tags.why)
      const isIdle = fields.get(tags.isIdle)?.[0]?.[0] === 1
      return number === undefined || reason === undefined
        ? undefined
        : { _tag: kind, code: number, reason, ...(isIdle && { isIdle }) }
    }
  }
}

export const decode = (bytes: Uint8Array): Decoding<LinkFrame> => {
  const buffer = view(bytes)
  if (buffer.length < 4) return needMore
  const length = buffer.readUInt32BE(0)
  if (length < 1 || length > maxFrameBytes) return malformed("link frame length")
  if (buffer.length < 4 + length) return needMore
  const kind = kinds[buffer.readUInt8(4)]
  const fields = decodeFields(buffer.subarray(head, 4 + length))
  const frame = kind === undefined || fields === undefined ? undefined : read(kind, fields)
  return frame === undefined ? malformed("link frame") : decoded(frame, 4 + length)
}
