import * as Hex from "@catenet/crypto/Hex"
import type { Suite } from "@catenet/crypto/Suite"
import { assert } from "@effect/vitest"
import { Redacted, Result } from "effect"

/** A known-answer vector. What `input` and `expect` hold depends on `kind`. */
export interface Vector {
  readonly id: string
  readonly kind: string
  readonly input: any
  readonly expect: any
  readonly [extra: string]: any
}

/** Runs one vector over one suite; throws when the answer is another one. */
export type Runner = (vector: Vector, suite: Suite) => void

/** One runner for each kind of a vector file. */
export type Runners = Readonly<Record<string, Runner>>

export const bytes = (hex: string): Uint8Array => Result.getOrThrow(Hex.decode(hex))

export const secret = (hex: string): Redacted.Redacted<Uint8Array> => Redacted.make(bytes(hex))

export const sameHex = (actual: Uint8Array, expected: string): void => assert.strictEqual(Hex.encode(actual), expected)

/** `ok`, or the tag of the error. */
export const outcome = (result: Result.Result<unknown, { readonly _tag: string }>): string =>
  Result.isSuccess(result) ? "ok" : result.failure._tag
