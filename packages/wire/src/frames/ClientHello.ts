/**
 * The facts a router needs of a TLS ClientHello, read off the first bytes of a connection without answering any of
 * them: RFC 8446 4.1.2, server name RFC 6066 3, ALPN RFC 7301. Tolerates any segmentation and any split over TLS
 * records. It does not decrypt: with ECH the name is the public one. A hello that could be read in two ways (two
 * server names, the same extension twice) is refused, since edge and origin might read it differently.
 */
import { Cursor } from "./Cursor.ts"
import { view } from "./Frame.ts"
import { normalHost } from "./HostName.ts"

/**
 * Bytes appended piece by piece in linear time, however small the pieces.
 * @internal
 */
class GrowingBytes {
  #memory: Buffer
  #length = 0

  constructor(capacity: number) {
    this.#memory = Buffer.allocUnsafeSlow(capacity)
  }

  get length(): number {
    return this.#length
  }

  /** The bytes so far, over the same memory: valid until the next `append`. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  append(piece: Uint8Array): void {
    const needed = this.#length + piece.length
    if (needed > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#memory.length * 2))
      this.#memory.copy(larger, 0, 0, this.#length)
      this.#memory = larger
    }
    view(piece).copy(this.#memory, this.#length)
    this.#length = needed
  }
}

export interface ClientHello {
  /** In host normal form; `undefined` when the client named none. */
  readonly serverName: string | undefined
  /** In the client's order; one character per byte. */
  readonly alpn: ReadonlyArray<string>
  /** The client offered Encrypted ClientHello, or greased it. */
  readonly ech: boolean
  /** The client may send early data (RFC 8446 4.2.10). */
  readonly earlyData: boolean
  /** The first 16 bytes of the session ticket that the client shows first, in hex: where servers put the name of a key. */
  readonly ticket?: string
}

export type HelloPeek =
  | { readonly _tag: "More" }
  | { readonly _tag: "Hello"; readonly hello: ClientHello }
  | { readonly _tag: "Invalid"; readonly reason: string }

/** Largest handshake message read, header included. */
export const maxHelloBytes = 65_536
/** Largest number of raw bytes read, so that a hello in tiny records still fits and endless ones do not. */
const maxRawBytes = 2 * maxHelloBytes
const maxRecordBytes = 16_384
const recordHeader = 5
const messageHeader = 4
const startBytes = 2048
const nothing = Buffer.alloc(0)
const handshakeRecord = 22
const clientHello = 1
const serverNameExtension = 0
const alpnExtension = 16
const ticketExtension = 35
const preSharedKeyExtension = 41
const earlyDataExtension = 42
const echExtension = 0xfe0d

const more: HelloPeek = { _tag: "More" }
const invalid = (reason: string): HelloPeek => ({ _tag: "Invalid", reason })

const readServerName = (extension: Buffer): string | undefined => {
  const cursor = new Cursor(extension)
  if (cursor.u16() !== cursor.left) return undefined
  let name: string | undefined
  while (cursor.left > 0) {
    const type = cursor.u8()
    const value = cursor.take(cursor.u16())
    if (cursor.overrun) return undefined
    if (type !== 0) continue
    if (name !== undefined) return undefined
    name = normalHost(value.toString("latin1"))
    if (name === undefined) return undefined
  }
  return name
}

const readAlpn = (extension: Buffer): ReadonlyArray<string> | undefined => {
  const cursor = new Cursor(extension)
  if (cursor.u16() !== cursor.left || cursor.left === 0) return undefined
  const names: Array<string> = []
  while (cursor.left > 0) {
    const name = cursor.take(cursor.u8())
    if (cursor.overrun || name.length === 0) return undefined
    names.push(name.toString("latin1"))
  }
  return names
}

const ticketNameBytes = 16

/** The beginning of a ticket; absent where it is no ticket. Whether a ticket is any good is for its server to say. */
const nameIn = (ticket: Buffer): string | undefined =>
  ticket.length < ticketNameBytes ? undefined : ticket.toString("hex", 0, ticketNameBytes)

/** Of the first identity (RFC 8446 4.2.11). */
const readPreSharedKey = (extension: Buffer): string | undefined => {
  const cursor = new Cursor(extension)
  cursor.u16()
  const identity = cursor.take(cursor.u16())
  return cursor.overrun ? undefined : nameIn(identity)
}

const readHello = (body: Buffer): HelloPeek => {
  const cursor = new Cursor(body)
  cursor.take(2 + 32)
  const session = cursor.take(cursor.u8())
  const suites = cursor.take(cursor.u16())
  const compressions = cursor.take(cursor.u8())
  if (
    cursor.overrun ||
    session.length > 32 ||
    suites.length < 2 ||
    suites.length % 2 !== 0 ||
    compressions.length < 1
  ) {
    return invalid("malformed hello")
  }
  let serverName: string | undefined
  let alpn: ReadonlyArray<string> | undefined
  let ech = false
  let earlyData = false
  let ticket: string | undefined
  if (cursor.left > 0 && cursor.u16() !== cursor.left) return invalid("malformed extensions")
  while (cursor.left > 0) {
    const type = cursor.u16()
    const extension = cursor.take(cursor.u16())
    if (cursor.overrun) return invalid("malformed extensions")
    if (type === serverNameExtension) {
      if (serverName !== undefined) return invalid("two server names")
      serverName = readServerName(extension)
      if (serverName === undefined) return invalid("malformed server name")
    } else if (type === alpnExtension) {
      if (alpn !== undefined) return invalid("two protocol lists")
      alpn = readAlpn(extension)
      if (alpn === undefined) return invalid("malformed protocol list")
    } else if (type === echExtension) ech = true
    else if (type === earlyDataExtension) earlyData = true
    else if (type === preSharedKeyExtension) ticket = readPreSharedKey(extension)
    else if (type === ticketExtension) ticket ??= nameIn(extension)
  }
  const facts = { serverName, alpn: alpn ?? [], ech, earlyData }
  return { _tag: "Hello", hello: ticket === undefined ? facts : { ...facts, ticket } }
}

const grown = (bytes: Buffer): GrowingBytes => {
  const growing = new GrowingBytes(startBytes)
  growing.append(bytes)
  return growing
}

/** The hello of a flight that begins with one whole record, as most come, which needs no copy. */
const readWhole = (flight: Buffer): HelloPeek | undefined => {
  const start = recordHeader + messageHeader
  if (flight.length < start || flight[0] !== handshakeRecord || flight[1] !== 3) return undefined
  const record = flight.readUInt16BE(3)
  const isWhole = record <= maxRecordBytes && recordHeader + record <= flight.length
  if (!isWhole || flight[recordHeader] !== clientHello) return undefined
  const length = flight.readUIntBE(recordHeader + 1, 3)
  return messageHeader + length === record ? readHello(flight.subarray(start, start + length)) : undefined
}

/** Collects the first bytes of a connection until they hold a whole ClientHello, or cannot. */
export class ClientHelloReader {
  #raw: GrowingBytes | undefined
  /** The first chunk, which is not copied unless another one comes. */
  #first: Buffer | undefined
  #handshake: GrowingBytes | undefined
  #parsed = 0
  #recordLeft = 0
  #settled: HelloPeek = more

  /** Every byte pushed so far, to be replayed to the server that ends the client's TLS. Valid until the next `push`. */
  get bytes(): Buffer {
    return this.#raw?.bytes ?? this.#first ?? nothing
  }

  /** The answer for all bytes so far; once it is not `More` it does not change. */
  push(chunk: Uint8Array): HelloPeek {
    if (this.#raw === undefined && this.#first === undefined) {
      this.#first = view(chunk)
      const whole = readWhole(this.#first)
      if (whole !== undefined) return (this.#settled = whole)
    } else {
      this.#raw ??= grown(this.#first ?? nothing)
      this.#raw.append(chunk)
    }
    if (this.#settled._tag === "More") this.#settled = this.#advance(this.bytes)
    return this.#settled
  }

  #advance(raw: Buffer): HelloPeek {
    const handshake = (this.#handshake ??= new GrowingBytes(startBytes))
    while (this.#parsed < raw.length) {
      if (this.#recordLeft === 0) {
        if (raw[this.#parsed] !== handshakeRecord) return invalid("not TLS")
        if (raw.length - this.#parsed < recordHeader) break
        if (raw[this.#parsed + 1] !== 3) return invalid("not TLS")
        this.#recordLeft = raw.readUInt16BE(this.#parsed + 3)
        if (this.#recordLeft === 0 || this.#recordLeft > maxRecordBytes) return invalid("malformed record")
        this.#parsed += recordHeader
      }
      const part = raw.subarray(this.#parsed, this.#parsed + this.#recordLeft)
      handshake.append(part)
      this.#parsed += part.length
      this.#recordLeft -= part.length
      const message = handshake.bytes
      if (message.length > 0 && message[0] !== clientHello) return invalid("not a ClientHello")
      if (message.length < messageHeader) continue
      const length = message.readUIntBE(1, 3) + messageHeader
      if (length > maxHelloBytes) return invalid("hello too large")
      if (message.length >= length) return readHello(message.subarray(messageHeader, length))
    }
    return raw.length > maxRawBytes ? invalid("hello too large") : more
  }
}
