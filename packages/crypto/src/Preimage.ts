/**
 * The builder behind most signed records (section 0.2): a domain with its length in front, then the fields. There is no
 * terminator and no padding, so every field of variable size carries its own length and every list its own count.
 */
import * as Bytes from "./Bytes.ts"
import * as Integer from "./Integer.ts"

/**
 * A text: u32le byte length, then UTF-8. Throws on half a surrogate pair.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.text("é")), "02000000c3a9")
 * ```
 */
export const text = (value: string): Uint8Array => {
  const bytes = Bytes.fromText(value)
  return Bytes.concat(Integer.u32le(bytes.length), bytes)
}

/**
 * A list: u32le count, then each item as `item` writes it.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.list(["a"], Preimage.text)), "010000000100000061")
 * ```
 */
export const list = <A>(items: ReadonlyArray<A>, item: (value: A) => Uint8Array): Uint8Array =>
  Bytes.concat(Integer.u32le(items.length), ...items.map(item))

/**
 * Writes lists of such items.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.listOf(Preimage.text)(["a"])), "010000000100000061")
 * ```
 */
export const listOf =
  <A>(item: (value: A) => Uint8Array) =>
  (items: ReadonlyArray<A>): Uint8Array =>
    list(items, item)

/**
 * A text in an older form: u64le byte length, then UTF-8.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.text64("a")), "010000000000000061")
 * ```
 */
export const text64 = (value: string): Uint8Array => {
  const bytes = Bytes.fromText(value)
  return Bytes.concat(Integer.u64le(BigInt(bytes.length)), bytes)
}

/**
 * A value that may be absent: tag 0, or tag 1 and the value as `item` writes it.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.optional(undefined, Preimage.text)), "00")
 * strictEqual(Hex.encode(Preimage.optional("", Preimage.text)), "0100000000")
 * ```
 */
export const optional = <A>(value: A | null | undefined, item: (value: A) => Uint8Array): Uint8Array =>
  value === null || value === undefined ? Integer.u8(0) : Bytes.concat(Integer.u8(1), item(value))

const fixed =
  (length: number) =>
  (value: Uint8Array): Uint8Array => {
    if (value.length !== length) throw new RangeError(`${value.length} bytes where ${length} are wanted`)
    return value
  }

/**
 * A key, id or digest: 32 bytes as they are. Throws `RangeError` on any other length, because a field of unmarked
 * length that is too short would take its last bytes from the next one.
 *
 * ```ts
 * import { strictEqual, throws } from "node:assert"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Preimage.fixed32(new Uint8Array(32)).length, 32)
 * throws(() => Preimage.fixed32(new Uint8Array(31)))
 * ```
 */
export const fixed32 = fixed(32)

/**
 * A signature within another record: 64 bytes as they are.
 *
 * ```ts
 * import { throws } from "node:assert"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * throws(() => Preimage.fixed64(new Uint8Array(32)))
 * ```
 */
export const fixed64 = fixed(64)

/**
 * Fields one after the other, for an item of a list that has several.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.join(Preimage.text("a"), Preimage.text(""))), "010000006100000000")
 * ```
 */
export const join = Bytes.concat

/**
 * A finished preimage: `P(domain)` followed by the fields.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.make("d", Preimage.text("ab"), Preimage.text("c"))), "01000000640200000061620100000063")
 * ```
 */
export const make = (domain: string, ...fields: ReadonlyArray<Uint8Array>): Uint8Array =>
  Bytes.concat(text(domain), ...fields)

/**
 * The older form, "raw domain": the domain's ASCII bytes without a length, then the fields.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Preimage from "@catenet/crypto/Preimage"
 *
 * strictEqual(Hex.encode(Preimage.raw("ct", Uint8Array.of(7))), "637407")
 * ```
 */
export const raw = (domain: string, ...fields: ReadonlyArray<Uint8Array>): Uint8Array =>
  Bytes.concat(Bytes.fromText(domain), ...fields)
