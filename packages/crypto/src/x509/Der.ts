/**
 * Parts of certificates and of certificate requests: names, extensions, keys and signatures.
 *
 * @internal
 */
import { DateTime, Option } from "effect"
import { createPublicKey, type KeyObject, sign } from "node:crypto"

/**
 * Reads DER (X.690) value by value: definite lengths in their shortest form, tags of one octet. The caller knows the structure of
 * a value.
 *
 * @internal
 */
export interface Node {
  readonly tag: number
  readonly content: Uint8Array
  /** Tag, length and content. */
  readonly whole: Uint8Array
}

/** No value read here is longer. */
const maxLengthOctets = 3

const headOf = (bytes: Uint8Array): { readonly start: number; readonly length: number } | undefined => {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  if (first < 0x80) return { start: 2, length: first }
  const octets = first & 0x7f
  if (octets === 0 || octets > maxLengthOctets || bytes.length < 2 + octets) return undefined
  const digits = bytes.subarray(2, 2 + octets)
  const length = digits.reduce((all, digit) => all * 256 + digit, 0)
  return digits[0] === 0 || length < 0x80 ? undefined : { start: 2 + octets, length }
}

const firstDerReader = (bytes: Uint8Array): Node | undefined => {
  const head = headOf(bytes)
  const [tag] = bytes
  if (head === undefined || tag === undefined || bytes.length < head.start + head.length) return undefined
  const end = head.start + head.length
  return { tag, content: bytes.subarray(head.start, end), whole: bytes.subarray(0, end) }
}

/** The one value that these bytes are; none where anything follows it. */
export const readNode = (bytes: Uint8Array): Option.Option<Node> => {
  const node = firstDerReader(bytes)
  return node !== undefined && node.whole.length === bytes.length ? Option.some(node) : Option.none()
}

/** The values that these bytes are, one after the other. */
export const readAll = (bytes: Uint8Array): Option.Option<ReadonlyArray<Node>> => {
  const nodes: Array<Node> = []
  let rest = bytes
  while (rest.length > 0) {
    const node = firstDerReader(rest)
    if (node === undefined) return Option.none()
    nodes.push(node)
    rest = rest.subarray(node.whole.length)
  }
  return Option.some(nodes)
}

/**
 * The few DER forms that certificates and requests of our own need (X.690). It writes only.
 *
 * @internal
 */
const bytes = (...parts: ReadonlyArray<Uint8Array>): Buffer => Buffer.concat(parts)

const length = (size: number): Buffer => {
  if (size < 0x80) return Buffer.of(size)
  const hex = size.toString(16)
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex")
  return bytes(Buffer.of(0x80 | digits.length), digits)
}

const node = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = bytes(...parts)
  return bytes(Buffer.of(tag), length(content.length), content)
}

export const sequence = (...parts: ReadonlyArray<Uint8Array>) => node(0x30, ...parts)
export const set = (...parts: ReadonlyArray<Uint8Array>) => node(0x31, ...parts)
export const octets = (content: Uint8Array) => node(0x04, content)
export const boolean = (value: boolean) => node(0x01, Buffer.of(value ? 0xff : 0))
const utf8 = (text: string) => node(0x0c, Buffer.from(text, "utf8"))

/** A constructed, explicitly tagged value `[tag]`. */
export const explicit = (tag: number, content: Uint8Array) => node(0xa0 | tag, content)

/** A primitive, implicitly tagged value `[tag]`. */
export const implicit = (tag: number, content: Uint8Array) => node(0x80 | tag, content)

/** A non-negative integer from big-endian digits. */
export const integer = (digits: Uint8Array) => {
  const first = digits.findIndex((digit) => digit !== 0)
  const body = first < 0 ? Buffer.of(0) : digits.subarray(first)
  return node(0x02, (body[0] ?? 0) >= 0x80 ? bytes(Buffer.of(0), body) : body)
}

/** A bit string; `unused` counts the padding bits of the last octet. */
export const bits = (content: Uint8Array, unused = 0) => node(0x03, Buffer.of(unused), content)

/** An object identifier in dotted form, first arc 0..2, second below 40. */
export const oid = (dotted: string) => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number)
  const base128 = (arc: number): Array<number> => {
    const digits = [arc & 0x7f]
    for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80)
    return digits
  }
  return node(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** UTCTime up to 2049, GeneralizedTime from 2050 on, as RFC 5280 4.1.2.5 demands. */
export const time = (millis: number) => {
  const digits = DateTime.formatIso(DateTime.makeUnsafe(millis)).replace(/[-:T]|\.\d+/g, "")
  return digits < "2050" ? node(0x17, Buffer.from(digits.slice(2))) : node(0x18, Buffer.from(digits))
}

export const sha256WithEcdsa = sequence(oid("1.2.840.10045.4.3.2"))

/** A common name has at most 64 characters (RFC 5280 appendix A.1): a longer host name stands in the extension alone. */
const longestCommonName = 64

/** A distinguished name of one common name, or of none where it would be too long. */
export const name = (commonName: string) =>
  commonName.length > longestCommonName ? sequence() : sequence(set(sequence(oid("2.5.4.3"), utf8(commonName))))

/** The public key as SubjectPublicKeyInfo. */
export const spki = (key: KeyObject): Buffer =>
  (key.type === "private" ? createPublicKey(key) : key).export({ format: "der", type: "spki" })

export const extension = (id: string, critical: boolean, content: Uint8Array) =>
  sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(content))

/** The DNS names. Critical where the subject is empty, as RFC 5280 4.2.1.6 demands. */
export const subjectAltName = (hosts: ReadonlyArray<string>) =>
  extension(
    "2.5.29.17",
    (hosts[0] ?? "").length > longestCommonName,
    sequence(...hosts.map((host) => implicit(2, Buffer.from(host, "ascii"))))
  )

/** A body with its signature. */
export const signed = (body: Uint8Array, key: KeyObject) =>
  sequence(body, sha256WithEcdsa, bits(sign("sha256", body, key)))
