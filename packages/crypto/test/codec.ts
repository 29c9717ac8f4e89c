/**
 * What is asked of every binary record: what was written is read; accepted bytes are the ones that would be written; no
 * part of a record and nothing with more behind it is one; no bytes make the reader throw.
 */
import { assert, it } from "@effect/vitest"
import { type Arbitrary, Result } from "effect"
import { anyBytes, integer } from "./arbitraries.ts"
import { flipped, runs } from "./suite/arbitraries.ts"

export interface Codec<A> {
  readonly values: Arbitrary.Arbitrary<A>
  readonly encode: (value: A) => Uint8Array
  readonly decode: (bytes: Uint8Array) => Result.Result<A, unknown>
  /** The last field takes all that is left, so more bytes, or fewer of them, are another record. */
  readonly open?: boolean
}

export const codecSuite = <A>(name: string, { values, encode, decode, open = false }: Codec<A>): void => {
  it.prop(
    `${name}: what was written is read`,
    { value: values },
    ({ value }) => assert.deepStrictEqual(encode(Result.getOrThrow(decode(encode(value)))), encode(value)),
    runs
  )

  it.prop(
    `${name}: what was read holds nothing of the bytes`,
    { value: values },
    ({ value }) => {
      const bytes = Buffer.from(encode(value))
      const read = Result.getOrThrow(decode(bytes))
      bytes.fill(0xff)
      assert.deepStrictEqual(encode(read), encode(value))
    },
    runs
  )

  it.prop(
    `${name}: accepted bytes are canonical`,
    { value: values, noise: anyBytes(200), bit: integer(0, 4000) },
    ({ value, noise, bit }) => {
      for (const bytes of [noise, flipped(encode(value), bit)]) {
        const read = decode(bytes)
        if (Result.isSuccess(read)) assert.deepStrictEqual(encode(read.success), bytes)
      }
    },
    runs
  )

  if (open) return
  it.prop(
    `${name}: neither a part nor an extension is accepted`,
    { value: values, cut: integer(1, 4000), more: anyBytes(20) },
    ({ value, cut, more }) => {
      const whole = encode(value)
      const part = decode(whole.subarray(0, whole.length - 1 - (cut % whole.length)))
      assert.isTrue(Result.isFailure(part))
      assert.isTrue(Result.isFailure(decode(Uint8Array.of(...whole, 0, ...more))))
    },
    runs
  )
}
