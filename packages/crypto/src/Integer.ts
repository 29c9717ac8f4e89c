/**
 * Unsigned integers as bytes, named after width and byte order. Writers throw `RangeError` on a value that does not fit:
 * a wrapped or rounded number must never reach a signature. 64-bit values are `bigint` throughout.
 */

/** Largest unsigned 64-bit integer. */
export const maxU64 = 0xffff_ffff_ffff_ffffn

/** Unix seconds as a caller may hold them. Records hold `bigint`. */
export type Seconds = number | bigint

const within = (value: number, max: number): number => {
  if (!Number.isInteger(value) || value < 0 || value > max) throw new RangeError(`${value} is not within 0..${max}`)
  return value
}

/**
 * Whether a `bigint` fits an unsigned 64-bit field.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * ok(Integer.isU64(Integer.maxU64) && !Integer.isU64(-1n))
 * ```
 */
export const isU64 = (value: bigint): boolean => value >= 0n && value <= maxU64

/**
 * One byte.
 *
 * ```ts
 * import { deepStrictEqual, throws } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * deepStrictEqual(Integer.u8(255), Uint8Array.of(255))
 * throws(() => Integer.u8(256))
 * ```
 */
export const u8 = (value: number): Uint8Array => Uint8Array.of(within(value, 0xff))

/**
 * Two bytes, big endian.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * deepStrictEqual(Integer.u16be(0x0102), Uint8Array.of(1, 2))
 * ```
 */
export const u16be = (value: number): Uint8Array => {
  const checked = within(value, 0xffff)
  return Uint8Array.of(checked >>> 8, checked & 0xff)
}

/**
 * Two bytes, little endian.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * deepStrictEqual(Integer.u16le(0x0102), Uint8Array.of(2, 1))
 * ```
 */
export const u16le = (value: number): Uint8Array => u16be(value).reverse()

/**
 * Four bytes, big endian.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * deepStrictEqual(Integer.u32be(0x01020304), Uint8Array.of(1, 2, 3, 4))
 * ```
 */
export const u32be = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, within(value, 0xffff_ffff))
  return bytes
}

/**
 * Four bytes, little endian.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * deepStrictEqual(Integer.u32le(0x01020304), Uint8Array.of(4, 3, 2, 1))
 * ```
 */
export const u32le = (value: number): Uint8Array => u32be(value).reverse()

/**
 * Eight bytes, little endian.
 *
 * ```ts
 * import { deepStrictEqual, throws } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * deepStrictEqual(Integer.u64le(1n), Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0))
 * throws(() => Integer.u64le(Integer.maxU64 + 1n))
 * ```
 */
export const u64le = (value: bigint): Uint8Array => {
  if (!isU64(value)) throw new RangeError(`${value} is not within 0..2^64-1`)
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value, true)
  return bytes
}

/**
 * Reads eight bytes, little endian. The caller has checked that they exist.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Integer from "@catenet/crypto/Integer"
 *
 * strictEqual(Integer.readU64le(Integer.u64le(72623859790382856n), 0), 72623859790382856n)
 * ```
 */
export const readU64le = (bytes: Uint8Array, at: number): bigint =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(at, true)
