/**
 * DNS messages (RFC 1035), as far as challenges and addresses need them: a question for one record set, a dynamic update (RFC 2136)
 * of one, and the answers to both. Bytes in, values out; a malformed answer is no answer.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import { Option, Result } from "effect"

export const Type = { A: 1, NS: 2, SOA: 6, TXT: 16, AAAA: 28, TSIG: 250 } as const
export const Class = { IN: 1, ANY: 255 } as const
/** Response codes that have a meaning here. */
export const Rcode = { NoError: 0, NxDomain: 3 } as const

/** A record as it is written. */
export interface NewRecord {
  readonly name: string
  readonly type: number
  readonly class: number
  readonly ttl: number
  readonly data: Uint8Array
}

/** A record as it was read; `start` is where it begins in the message. */
export interface Found extends NewRecord {
  readonly start: number
}

/** An answer. */
export interface Answer {
  readonly id: number
  readonly rcode: number
  readonly isTruncated: boolean
  readonly answers: ReadonlyArray<Found>
  readonly additional: ReadonlyArray<Found>
}

const headerLength = 12
const updateOpcode = 5 << 11

export const uint16 = (value: number): Uint8Array => Uint8Array.of((value >> 8) & 0xff, value & 0xff)
export const uint32 = (value: number): Uint8Array =>
  Bytes.concat(uint16(Math.floor(value / 0x10000)), uint16(value % 0x10000))

/** A name as it is written: uncompressed, in lower case, as signatures need it. The name must be one. */
export const name = (text: string): Uint8Array => {
  const labels = text
    .toLowerCase()
    .split(".")
    .filter((label) => label !== "")
  return Bytes.concat(
    ...labels.flatMap((label) => [Uint8Array.of(label.length), Bytes.fromText(label)]),
    Uint8Array.of(0)
  )
}

/** The data of a TXT record of one string of at most 255 bytes. */
export const txt = (text: string): Uint8Array => {
  const bytes = Bytes.fromText(text)
  return Bytes.concat(Uint8Array.of(bytes.length), bytes)
}

/** The data of an A or AAAA record of an address, which must be one. */
export const address = (text: string): Uint8Array => {
  if (!text.includes(":")) return Uint8Array.from(text.split("."), Number)
  // The form of URLs has no dotted part at the end.
  const [left = "", right] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::")
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)))
  const [first, last] = [groups(left), groups(right ?? "")]
  const between = Array.from({ length: 8 - first.length - last.length }, () => 0)
  return Bytes.concat(...[...first, ...between, ...last].map(uint16))
}

/** A whole record. */
export const record = (from: NewRecord): Uint8Array =>
  Bytes.concat(
    name(from.name),
    uint16(from.type),
    uint16(from.class),
    uint32(from.ttl),
    uint16(from.data.length),
    from.data
  )

const header = (id: number, flags: number, counts: readonly [number, number, number, number]) =>
  Bytes.concat(uint16(id), uint16(flags), ...counts.map(uint16))

/** Asks the server itself, without recursion. */
export const query = (id: number, of: { readonly name: string; readonly type: number }): Uint8Array =>
  Bytes.concat(header(id, 0, [1, 0, 0, 0]), name(of.name), uint16(of.type), uint16(Class.IN))

/** Makes a record set of a name consist of these data alone. */
export const update = (
  id: number,
  of: {
    readonly zone: string
    readonly name: string
    readonly type: number
    readonly ttl: number
    readonly data: ReadonlyArray<Uint8Array>
  }
): Uint8Array => {
  const emptied = { name: of.name, type: of.type, class: Class.ANY, ttl: 0, data: new Uint8Array(0) }
  const added = of.data.map((data) => ({ name: of.name, type: of.type, class: Class.IN, ttl: of.ttl, data }))
  return Bytes.concat(
    header(id, updateOpcode, [1, 0, 1 + added.length, 0]),
    name(of.zone),
    uint16(Type.SOA),
    uint16(Class.IN),
    ...[emptied, ...added].map(record)
  )
}

/** The texts of a TXT record: its strings put together. */
export const textOf = ({ data }: NewRecord): Option.Option<string> => {
  const parts: Array<Uint8Array> = []
  for (let at = 0; at < data.length;) {
    const end = at + 1 + (data[at] ?? 0)
    if (end > data.length) return Option.none()
    parts.push(data.subarray(at + 1, end))
    at = end
  }
  return Result.getSuccess(Bytes.toText(Bytes.concat(...parts)))
}

class Malformed extends Error {}

/** Reads forward; whatever is not there is `Malformed`, which does not leave this file. */
const reader = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = headerLength
  const need = (count: number, from = at) => {
    if (from + count > bytes.length) throw new Malformed()
  }
  const take = (count: number) => {
    need(count)
    at += count
    return bytes.subarray(at - count, at)
  }
  const short = () => {
    need(2)
    at += 2
    return view.getUint16(at - 2)
  }
  const long = () => {
    need(4)
    at += 4
    return view.getUint32(at - 4)
  }
  /** Pointers may only lead backwards, so that reading ends. */
  const readName = (): string => {
    const labels: Array<string> = []
    let position = at
    let limit = at
    let jumped = false
    for (;;) {
      need(1, position)
      const length = bytes[position] ?? 0
      if (length >= 0xc0) {
        need(2, position)
        const target = view.getUint16(position) & 0x3fff
        if (target >= limit) throw new Malformed()
        if (!jumped) at = position + 2
        jumped = true
        limit = target
        position = target
        continue
      }
      if (length > 63) throw new Malformed()
      need(1 + length, position)
      if (length === 0) break
      labels.push(String.fromCharCode(...bytes.subarray(position + 1, position + 1 + length)))
      position += 1 + length
    }
    if (!jumped) at = position + 1
    return labels.join(".").toLowerCase()
  }
  const readRecord = (): Found => {
    const start = at
    const name = readName()
    const [type, klass, ttl] = [short(), short(), long()]
    return { start, name, type, class: klass, ttl, data: take(short()) }
  }
  return {
    question: () => [readName(), short(), short()],
    records: (count: number) => Array.from({ length: count }, readRecord),
    isAtEnd: () => at === bytes.length
  }
}

const read = (bytes: Uint8Array): Answer => {
  if (bytes.length < headerLength) throw new Malformed()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = view.getUint16(2)
  if ((flags & 0x8000) === 0) throw new Malformed()
  const { isAtEnd, question, records } = reader(bytes)
  for (let n = view.getUint16(4); n > 0; n--) question()
  const answers = records(view.getUint16(6))
  records(view.getUint16(8))
  const additional = records(view.getUint16(10))
  if (!isAtEnd()) throw new Malformed()
  return { id: view.getUint16(0), rcode: flags & 0xf, isTruncated: (flags & 0x0200) !== 0, answers, additional }
}

/** Reads an answer. */
export const parse = (bytes: Uint8Array): Option.Option<Answer> => {
  try {
    return Option.some(read(bytes))
  } catch (cause) {
    if (cause instanceof Malformed) return Option.none()
    throw cause
  }
}
