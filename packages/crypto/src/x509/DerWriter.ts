/**
 * The few DER forms that certificates and requests of our own need (X.690). It writes only.
 *
 * @internal
 */
import { DateTime } from "effect"

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
export const utf8 = (text: string) => node(0x0c, Buffer.from(text, "utf8"))

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
