/**
 * Hexadecimal text of a fixed length: keys, signatures, hashes, ids. Read in either case, kept and written lower-case.
 *
 * The digits are ASCII by the pattern, so lower-casing never meets a letter of another script. Nothing is trimmed: a
 * text with white space around it is refused.
 */
import { Schema, SchemaTransformation } from "effect"
import { pattern } from "./Pattern.ts"

/** Digits of one set; a generator takes time by the square of what one repetition says, so it draws them by eights. */
const digitsOf = (set: string, digits: number, expected: string) =>
  Schema.String.check(
    pattern(
      new RegExp(`^[${set}]{${digits}}$`, "u"),
      expected,
      new RegExp(`^(?:[${set}]{8}){${Math.floor(digits / 8)}}[${set}]{${digits % 8}}$`, "u")
    )
  )

const reader = (digits: number) => digitsOf("0-9a-fA-F", digits, `${digits} hex digits`)

const canonical = (digits: number) => digitsOf("0-9a-f", digits, `${digits} lower-case hex digits`)

const lowerCase = SchemaTransformation.transform({
  decode: (text: string) => text.toLowerCase(),
  encode: (text: string) => text
})

/** 32 hex digits: a 16-byte id. */
export const Hex32 = reader(32).pipe(Schema.decodeTo(canonical(32).pipe(Schema.brand("Hex32")), lowerCase))
export type Hex32 = typeof Hex32.Type

/**
 * 64 hex digits: a 32-byte key, id, token or hash.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { Hex64 } from "@catenet/domain/values/Hex"
 *
 * const key = Schema.decodeUnknownSync(Hex64)("AB".repeat(32))
 * if (key !== "ab".repeat(32)) throw new Error("hex is kept lower-case")
 * ```
 */
export const Hex64 = reader(64).pipe(Schema.decodeTo(canonical(64).pipe(Schema.brand("Hex64")), lowerCase))
export type Hex64 = typeof Hex64.Type

/** 128 hex digits: a 64-byte Ed25519 signature. */
export const Hex128 = reader(128).pipe(Schema.decodeTo(canonical(128).pipe(Schema.brand("Hex128")), lowerCase))
export type Hex128 = typeof Hex128.Type

/** 278 hex digits: a 139-byte signed grant or invitation. */
export const Hex278 = reader(278).pipe(Schema.decodeTo(canonical(278).pipe(Schema.brand("Hex278")), lowerCase))
export type Hex278 = typeof Hex278.Type
