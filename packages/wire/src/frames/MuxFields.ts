/**
 * Tagged fields inside the longer frames of the multiplexed carrier: tag u8, length u16, bytes. A reader skips tags
 * it does not know, so that fields can be added without a new version.
 */
import { Buffer } from "node:buffer"
import { Cursor } from "./Cursor.ts"

export type Field = readonly [tag: number, bytes: Uint8Array]
export type Fields = ReadonlyMap<number, ReadonlyArray<Buffer>>

const maxFields = 128

export const encodeFields = (fields: ReadonlyArray<Field>): Buffer => {
  let size = 0
  for (const [, bytes] of fields) size += 3 + bytes.length
  const out = Buffer.allocUnsafe(size)
  let at = 0
  for (const [tag, bytes] of fields) {
    out[at] = tag
    out.writeUInt16BE(bytes.length, at + 1)
    out.set(bytes, at + 3)
    at += 3 + bytes.length
  }
  return out
}

/** `undefined` when the bytes are not fields from end to end. */
export const decodeFields = (bytes: Uint8Array): Fields | undefined => {
  const cursor = new Cursor(bytes)
  const fields = new Map<number, Array<Buffer>>()
  for (let count = 0; cursor.left > 0; count++) {
    const tag = cursor.u8()
    const value = cursor.take(cursor.u16())
    if (cursor.overrun || count === maxFields) return undefined
    const known = fields.get(tag)
    if (known === undefined) fields.set(tag, [value])
    else known.push(value)
  }
  return fields
}

export const text = (value: string): Buffer => Buffer.from(value, "utf8")

export const u32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value, 0)
  return bytes
}

export const readText = (fields: Fields, tag: number): string | undefined => fields.get(tag)?.[0]?.toString("utf8")

export const readU32 = (fields: Fields, tag: number): number | undefined => {
  const bytes = fields.get(tag)?.[0]
  return bytes?.length === 4 ? bytes.readUInt32BE(0) : undefined
}

/** A copy, so that what outlives the frame does not hold the network buffer; exactly `length` bytes or nothing. */
export const readBytes = (fields: Fields, tag: number, length: number): Uint8Array | undefined => {
  const bytes = fields.get(tag)?.[0]
  return bytes?.length === length ? Uint8Array.from(bytes) : undefined
}
