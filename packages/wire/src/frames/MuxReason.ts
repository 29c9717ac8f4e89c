/**
 * Why a stream, a registration or a session of the multiplexed carrier ended: a code that programs act on and a
 * sentence for people. On the wire: code u16, then the sentence in UTF-8.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed, view } from "./Frame.ts"

const resets = {
  unknown: 0,
  cancelled: 1,
  refused: 2,
  "origin-unreachable": 3,
  "origin-timeout": 4,
  "origin-reset": 5,
  idle: 6,
  draining: 7,
  full: 8,
  revoked: 9,
  "window-closed": 10,
  overloaded: 11,
  protocol: 12,
  internal: 13,
  lost: 14
} as const

const refusals = {
  unknown: 0,
  revoked: 1,
  "host-not-authorized": 2,
  "host-taken": 3,
  "host-malformed": 4,
  full: 5,
  "bad-proof": 6,
  "proof-required": 7,
  version: 8,
  draining: 9,
  malformed: 10,
  closed: 11,
  internal: 12
} as const

const closes = {
  unknown: 0,
  normal: 1,
  draining: 2,
  revoked: 3,
  superseded: 4,
  version: 5,
  protocol: 6,
  "flow-control": 7,
  dead: 8,
  timeout: 9,
  overloaded: 10,
  lost: 11,
  internal: 12
} as const

/** Why one stream was cut. `lost`: its session ended. */
export type ResetCode = keyof typeof resets
/** Why a registration was not accepted, or was ended later. */
export type RefusalCode = keyof typeof refusals
/** Why a session ended. `lost`: the connection broke before the peer closed the session. */
export type CloseCode = keyof typeof closes

export interface Reason<Code extends string> {
  readonly code: Code
  readonly sentence: string
}

/** Longest sentence sent; the rest is cut off at a character boundary. */
export const maxSentenceBytes = 512
export const maxReasonBytes = 2 + maxSentenceBytes

const cut = (sentence: string): Buffer => {
  const bytes = Buffer.from(sentence, "utf8")
  if (bytes.length <= maxSentenceBytes) return bytes
  let end = maxSentenceBytes
  while (end > 0 && (bytes.readUInt8(end) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}

const codec = <Code extends string>(
  table: { readonly [K in Code]: number },
  codes: ReadonlyArray<Code>,
  other: Code
) => {
  const names = new Map<number, Code>(codes.map((code) => [table[code], code]))
  return {
    encode: ({ code, sentence }: Reason<Code>): Buffer => {
      const text = cut(sentence)
      const bytes = Buffer.allocUnsafe(2 + text.length)
      bytes.writeUInt16BE(table[code], 0)
      bytes.set(text, 2)
      return bytes
    },
    /** A code from a later version reads as `unknown`. */
    decode: (bytes: Uint8Array): Result.Result<Reason<Code>, Malformed> => {
      const buffer = view(bytes)
      if (buffer.length < 2 || buffer.length > maxReasonBytes) return malformed("reason length")
      return Result.succeed({ code: names.get(buffer.readUInt16BE(0)) ?? other, sentence: buffer.toString("utf8", 2) })
    }
  }
}

const isKeyOf =
  <T extends object>(table: T) =>
  (key: string): key is Extract<keyof T, string> =>
    Object.hasOwn(table, key)

export const resetCodes: ReadonlyArray<ResetCode> = Object.keys(resets).filter(isKeyOf(resets))
export const refusalCodes: ReadonlyArray<RefusalCode> = Object.keys(refusals).filter(isKeyOf(refusals))
export const closeCodes: ReadonlyArray<CloseCode> = Object.keys(closes).filter(isKeyOf(closes))

export const ResetReason = codec(resets, resetCodes, "unknown")
export const RefusalReason = codec(refusals, refusalCodes, "unknown")
export const CloseReason = codec(closes, closeCodes, "unknown")
