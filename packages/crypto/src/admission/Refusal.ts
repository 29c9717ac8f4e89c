/**
 * The refusal frame (section 6.4): `NO` ‖ length ‖ token. Always shorter than a challenge. An edge closes its write side after it,
 * and readers rely on that end.
 */
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"

/** Why an edge refuses a join, in the order of its checks. */
export const tokens = [
  "len-oob",
  "malformed",
  "endpoint",
  "not-member",
  "grant-verify",
  "possession",
  "pairing"
] as const

/** A token that our edges send. Readers pass unknown tokens on. */
export type Token = (typeof tokens)[number]

/** The control plane did not answer, which says nothing about the member: it may try again. */
export const unavailable = "unavailable"

const no = Uint8Array.of(0x4e, 0x4f)

/**
 * The frame's bytes.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Refusal from "@catenet/crypto/admission/Refusal"
 *
 * deepStrictEqual(Refusal.encode("pairing"), new TextEncoder().encode("NO\u0007pairing"))
 * ```
 */
export const encode = (token: Token | typeof unavailable): Uint8Array =>
  Bytes.concat(no, Integer.u8(token.length), Bytes.fromText(token))

/**
 * Whether bytes start as a refusal does.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Refusal from "@catenet/crypto/admission/Refusal"
 *
 * ok(Refusal.isRefusal(Uint8Array.of(0x4e, 0x4f)))
 * ```
 */
export const isRefusal = (bytes: Uint8Array): boolean => bytes[0] === no[0] && bytes[1] === no[1]

/**
 * The text of 1 to 24 characters of `a-z 0-9 -`, or `undefined`.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Refusal from "@catenet/crypto/admission/Refusal"
 *
 * strictEqual(Refusal.tokenText(new TextEncoder().encode("possession")), "possession")
 * strictEqual(Refusal.tokenText(Uint8Array.of(0)), undefined)
 * ```
 */
export const tokenText = (bytes: Uint8Array): string | undefined => {
  const text = String.fromCharCode(...bytes.subarray(0, 25))
  return /^[a-z0-9-]{1,24}$/.test(text) ? text : undefined
}

/**
 * The token in what follows `NO`. Undefined if it is missing, cut or malformed: then the refusal has no reason.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Refusal from "@catenet/crypto/admission/Refusal"
 *
 * strictEqual(Refusal.tokenAfterNo(new TextEncoder().encode("\u0007pairing and more")), "pairing")
 * ```
 */
export const tokenAfterNo = (rest: Uint8Array): string | undefined => {
  const length = rest[0] ?? 0
  return rest.length > length ? tokenText(rest.subarray(1, 1 + length)) : undefined
}
