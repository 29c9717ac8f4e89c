/**
 * The puzzle an edge sets before it opens a tunnel for a client (section 11.3). The edge draws the nonce; the
 * client searches for a number whose hash, with nonce and routing token, starts with enough zero bits.
 */
import { Option } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Integer from "./Integer.ts"
import type { Suite } from "./Suite.ts"

/** Default difficulty in bits. */
export const defaultDifficulty = 16

/** A client refuses to work for more bits than this. */
export const maxDifficulty = 32

/** First message of the edge; its frame and that of the answer are in `@catenet/wire`. */
export interface Challenge {
  /** 16 bytes, fresh for each connection. */
  readonly nonce: Uint8Array
  /** Leading zero bits wanted, 0..255. */
  readonly difficulty: number
}

/** The client's answer. */
export interface Answer {
  readonly solution: bigint
  /** 32 bytes. */
  readonly routingToken: Uint8Array
}

/**
 * The hash that is checked: SHA-256(nonce ‖ routing token ‖ u64le solution).
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
 * import { portable } from "@catenet/crypto/portable"
 *
 * strictEqual(ProofOfWork.hash(portable, new Uint8Array(16), { solution: 0n, routingToken: new Uint8Array(32) }).length, 32)
 * ```
 */
export const hash = (suite: Suite, nonce: Uint8Array, answer: Answer): Uint8Array =>
  suite.sha256(Bytes.concat(nonce, answer.routingToken, Integer.u64le(answer.solution)))

/**
 * Zero bits before the first one bit.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
 *
 * strictEqual(ProofOfWork.leadingZeroBits(Uint8Array.of(0, 0x10)), 11)
 * ```
 */
export const leadingZeroBits = (bytes: Uint8Array): number => {
  const at = bytes.findIndex((byte) => byte !== 0)
  return at < 0 ? bytes.length * 8 : at * 8 + Math.clz32(bytes[at] ?? 0) - 24
}

/**
 * Whether the answer solves the challenge.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const challenge = { nonce: new Uint8Array(16).fill(0x11), difficulty: 8 }
 * ok(ProofOfWork.solves(portable, challenge, { solution: 70n, routingToken: new Uint8Array(32).fill(0x22) }))
 * ```
 */
export const solves = (suite: Suite, challenge: Challenge, answer: Answer): boolean =>
  leadingZeroBits(hash(suite, challenge.nonce, answer)) >= challenge.difficulty

/**
 * Tries `count` solutions from `from` on. The search is cut into such slices so that a caller can stay responsive; at
 * the default difficulty it takes 65,536 tries on average.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Option } from "effect"
 * import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const challenge = { nonce: new Uint8Array(16).fill(0x11), difficulty: 8 }
 * const found = ProofOfWork.search(portable, challenge, new Uint8Array(32).fill(0x22), 0n, 100)
 * strictEqual(Option.getOrThrow(found), 70n)
 * ```
 */
export const search = (
  suite: Suite,
  challenge: Challenge,
  routingToken: Uint8Array,
  from: bigint,
  count: number
): Option.Option<bigint> => {
  const input = Bytes.concat(challenge.nonce, routingToken, new Uint8Array(8))
  const solution = new DataView(input.buffer, input.length - 8)
  for (let i = 0; i < count; i++) {
    const candidate = from + BigInt(i)
    if (!Integer.isU64(candidate)) break
    solution.setBigUint64(0, candidate, true)
    if (leadingZeroBits(suite.sha256(input)) >= challenge.difficulty) return Option.some(candidate)
  }
  return Option.none()
}
